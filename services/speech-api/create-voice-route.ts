/**
 * The route that clones a voice. The challenge is used up by any create that names it and is let through to it,
 * whatever becomes of it: not by a replay, nor by a form that could not be read. Of the flow without a challenge every
 * answer says that it is on its way out.
 */
import { hash } from "node:crypto"
import { Clock, Effect } from "effect"
import {
  amended,
  type Answer,
  Caller,
  type Form,
  Idempotency,
  idempotencyKey,
  jsonAnswer,
  readForm,
  validationFailed,
  type WireError,
  withHeaders
} from "#http"
import { Configuration, Metrics } from "#runtime"
import { callerVersion } from "./caller-version.ts"
import { type ListedVoice, voiceBody, withOldGender } from "./voice-list.ts"
import { Challenges } from "./voices/Challenges.ts"
import { isDeclaredFlow, noticeHeaders, refusalAfter } from "./voices/legacy-flow.ts"
import { voicesCreated } from "./voices/metrics.ts"
import { type Flow, readVoiceForm, voiceFormSpec } from "./voices/voice-form.ts"
import { cloneRules, listedClone } from "./cloned-voice-views.ts"
import { VoiceMaking } from "./voices/VoiceMaking.ts"
import { refusalOfVoice } from "./voices/voice-refusals.ts"

/** `by` is the same for a create that is tried again, and for no other. */
const challengeFlow = Effect.fnUntraced(function* (id: string | undefined, by: string | null) {
  if (id === undefined) return { _tag: "Challenge", used: undefined } as const
  const { workspace } = yield* Caller
  const used = yield* Effect.mapError((yield* Challenges).use(workspace, id, by), refusalOfVoice)
  return { _tag: "Challenge", used } as const
})

const make = Effect.fnUntraced(function* (form: Form, flow: Flow) {
  const { workspace, tokenId } = yield* Caller
  const { VoiceCloning } = yield* Configuration
  const order = yield* Effect.mapError(Effect.fromResult(readVoiceForm(form, flow)), (faults) =>
    validationFailed(faults)
  )
  const making = yield* VoiceMaking
  const voice = yield* Effect.mapError(making.make({ workspace, tokenId, order }), refusalOfVoice)
  return listedClone(voice, cloneRules(VoiceCloning, workspace))
})

const created = (voice: ListedVoice, isOfOld: boolean): Answer =>
  jsonAnswer(isOfOld ? withOldGender(voiceBody(voice)) : voiceBody(voice), {
    status: 201,
    headers: { location: `/v1/voices/${voice.id}` }
  })

const counted = Effect.fnUntraced(function* <A, R>(flow: string, work: Effect.Effect<A, WireError, R>) {
  const creates = (yield* Metrics).counter(voicesCreated)
  return yield* work.pipe(
    Effect.tap(() => Effect.sync(() => creates.inc({ flow, outcome: "created" }))),
    Effect.tapError(({ code }) => Effect.sync(() => creates.inc({ flow, outcome: code })))
  )
})

/** What the answers of a flow that is on its way out say, the refusals too. */
const withNotices = <R>(headers: Readonly<Record<string, string>>, work: Effect.Effect<Answer, WireError, R>) =>
  work.pipe(
    Effect.map((answer) => withHeaders(answer, headers)),
    Effect.mapError((error) => amended(error, { headers }))
  )

const declared = Effect.fnUntraced(function* (form: Form) {
  const { VoiceCloning } = yield* Configuration
  const refusal = refusalAfter(VoiceCloning.LegacyFlowSunset, yield* Clock.currentTimeMillis)
  return yield* refusal ?? make(form, { _tag: "Declared" })
})

export const answerCreate = Effect.gen(function* () {
  const version = yield* callerVersion
  const { VoiceCloning } = yield* Configuration
  const { workspace } = yield* Caller
  const form = yield* readForm(voiceFormSpec)
  const { consent_challenge_id: challengeId, idempotency_key: keyField } = form.fields
  // No later create can be a replay of one without a key that counts, so that nothing keeps the challenge.
  const key = yield* Effect.tapError(idempotencyKey(keyField), () => Effect.ignore(challengeFlow(challengeId, null)))
  const { fingerprint } = form
  const once = (work: Effect.Effect<Answer, WireError, MakingNeeds>) =>
    Effect.flatMap(Idempotency, ({ run }) => run({ workspace, route: "POST /v1/voices", key, fingerprint }, work))
  const answered = (voice: ListedVoice) => created(voice, version.hasBareVoiceList)

  if (isDeclaredFlow(version, form.fields)) {
    const work = once(Effect.map(counted("declared", declared(form)), answered))
    return yield* withNotices(noticeHeaders(VoiceCloning.LegacyFlowSunset), work)
  }
  const by = key === undefined ? null : hash("sha256", JSON.stringify([key, fingerprint]), "hex")
  const flow = challengeFlow(challengeId, by)
  const work = Effect.flatMap(flow, (used) => make(form, used))
  return yield* once(Effect.map(counted("challenge", work), answered))
})

type MakingNeeds =
  | Effect.Services<ReturnType<typeof make>>
  | Effect.Services<ReturnType<typeof challengeFlow>>
  | Metrics
