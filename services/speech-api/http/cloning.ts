/**
 * Cloning a voice takes two calls: one for a phrase that the speaker reads, one with that reading and a sample. A
 * create that names a challenge and gets as far as using it uses it up, whatever the outcome; a replay and an
 * unreadable form do not. Callers pinned to an older version can still declare consent instead of sending a reading,
 * for a while.
 */
import { hash } from "node:crypto"
import { Clock, Effect } from "effect"
import type { ConsentChallengeRequest, Voice } from "#speech/api"
import {
  amended,
  type Answer,
  Caller,
  type EndpointRequest,
  forbidden,
  type Form,
  Idempotency,
  idempotencyKey,
  type JsonAnswer,
  jsonAnswer,
  jsonFingerprint,
  rateLimited,
  rateLimitHeaders,
  readForm,
  type RateTaken,
  validationFailed,
  type WireError,
  withHeaders
} from "#http"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { voicesCreated } from "../metrics.ts"
import { Challenges, faultOfFullName } from "../voices/Challenges.ts"
import { VoiceCreation } from "../voices/VoiceCreation.ts"
import { listedClone, type ListedVoice, voiceBody, withOldGender } from "../voices/list.ts"
import { cloneRules } from "../voices/speakable.ts"
import { type Flow, readVoiceForm, voiceFormSpec } from "../voices/form.ts"
import { refusalOfVoice } from "../refusals.ts"
import { callerVersion } from "./version.ts"

const makeChallenge = Effect.fnUntraced(function* (fullName: string, onTaken: (taken: RateTaken) => void) {
  const { workspace, tokenId } = yield* Caller
  const { challenge, taken } = yield* Effect.mapError(
    (yield* Challenges).make({ workspace, tokenId, fullName }),
    (error) =>
      error._tag === "ChallengesUsedUp"
        ? rateLimited(error.retryAfterMs / 1_000, "consent_challenges", rateLimitHeaders(error))
        : refusalOfVoice(error)
  )
  onTaken(taken)
  return jsonAnswer({ id: challenge.id, phrase: challenge.phrase, expires_at: challenge.expiresAt })
})

const limitHeaders = ({ limit, remaining, resetMs }: RateTaken) => ({
  "ratelimit-limit": String(limit),
  "ratelimit-remaining": String(remaining),
  "ratelimit-reset": String(Math.ceil(resetMs / 1_000))
})

/** Starts a consent: a phrase for one speaker, with an hourly limit per workspace. */
export const createConsentChallenge = Effect.fnUntraced(function* ({
  body
}: EndpointRequest<void, ConsentChallengeRequest>) {
  yield* callerVersion
  const { workspace } = yield* Caller
  const request = yield* body
  const key = yield* idempotencyKey(request.idempotency_key)
  const fault = faultOfFullName(request.full_name)
  if (fault !== undefined) return yield* fault
  // Only the first answer carries the window's headers: on a replay they would describe another time.
  let taken: RateTaken | undefined
  const fullName = request.full_name.trim()
  const answer = yield* (yield* Idempotency).run(
    {
      workspace,
      route: "POST /v1/voices/consent-challenges",
      key,
      fingerprint: jsonFingerprint({ full_name: request.full_name })
    },
    makeChallenge(fullName, (now) => (taken = now))
  )
  return taken === undefined ? answer : withHeaders(answer, limitHeaders(taken))
})

/** Creates a voice. `MakingNeeds` names what both flows need, because the idempotency runner cannot infer it. */
export const createVoice = Effect.fnUntraced(function* () {
  const version = yield* callerVersion
  const { VoiceCloning } = yield* Configuration
  const { workspace } = yield* Caller
  const form = yield* readForm(voiceFormSpec)
  const { consent_challenge_id: challengeId, idempotency_key: keyField } = form.fields
  // Without a key that counts, no later create can be a replay of this one, so nothing keeps the challenge.
  const key = yield* Effect.tapError(idempotencyKey(keyField), () => Effect.ignore(challengeFlow(challengeId, null)))
  const { fingerprint } = form
  const once = (work: Effect.Effect<JsonAnswer<Voice>, WireError, MakingNeeds>) =>
    Effect.flatMap(Idempotency, ({ run }) => run({ workspace, route: "POST /v1/voices", key, fingerprint }, work))
  const answered = (voice: ListedVoice) => created(voice, version.hasBareVoiceList)

  if (isDeclaredFlow(version, form.fields)) {
    const work = once(Effect.map(countedCreate("declared", declared(form)), answered))
    return yield* withNotices(noticeHeaders(VoiceCloning.LegacyFlowSunset), work)
  }
  const by = key === undefined ? null : hash("sha256", JSON.stringify([key, fingerprint]), "hex")
  const flow = challengeFlow(challengeId, by)
  const work = Effect.flatMap(flow, (used) => makeVoice(form, used))
  return yield* once(Effect.map(countedCreate("challenge", work), answered))
})

type MakingNeeds =
  | Effect.Services<ReturnType<typeof makeVoice>>
  | Effect.Services<ReturnType<typeof challengeFlow>>
  | Metrics

/** `by` is the same for a retried create, and for no other. */
const challengeFlow = Effect.fnUntraced(function* (id: string | undefined, by: string | null) {
  if (id === undefined) return { _tag: "Challenge", used: undefined } as const
  const { workspace } = yield* Caller
  const used = yield* Effect.mapError((yield* Challenges).use(workspace, id, by), refusalOfVoice)
  return { _tag: "Challenge", used } as const
})

const makeVoice = Effect.fnUntraced(function* (form: Form, flow: Flow) {
  const { workspace, tokenId } = yield* Caller
  const { VoiceCloning } = yield* Configuration
  const order = yield* Effect.mapError(Effect.fromResult(readVoiceForm(form, flow)), (faults) =>
    validationFailed(faults)
  )
  const creation = yield* VoiceCreation
  const voice = yield* Effect.mapError(creation.create({ workspace, tokenId, order }), refusalOfVoice)
  return listedClone(voice, cloneRules(VoiceCloning, workspace))
})

const created = (voice: ListedVoice, isOfOld: boolean) =>
  jsonAnswer(isOfOld ? withOldGender(voiceBody(voice)) : voiceBody(voice), {
    status: 201,
    headers: { location: `/v1/voices/${voice.id}` }
  })

const countedCreate = Effect.fnUntraced(function* <A, R>(flow: string, work: Effect.Effect<A, WireError, R>) {
  const creates = (yield* Metrics).counter(voicesCreated)
  return yield* work.pipe(
    Effect.tap(() => Effect.sync(() => creates.inc({ flow, outcome: "created" }))),
    Effect.tapError(({ code }) => Effect.sync(() => creates.inc({ flow, outcome: code })))
  )
})

/** Adds the notices of a deprecated flow to its answers, refusals included. */
const withNotices = <A extends Answer, R>(
  headers: Readonly<Record<string, string>>,
  work: Effect.Effect<A, WireError, R>
) =>
  work.pipe(
    Effect.map((answer) => withHeaders(answer, headers)),
    Effect.mapError((error) => amended(error, { headers }))
  )

const declared = Effect.fnUntraced(function* (form: Form) {
  const { VoiceCloning } = yield* Configuration
  const refusal = refusalAfter(VoiceCloning.LegacyFlowSunset, yield* Clock.currentTimeMillis)
  return yield* refusal ?? makeVoice(form, { _tag: "Declared" })
})

// The flow before 2026-09-13, in which a caller only declares that the speaker agreed. Each of its answers says how
// long it remains available (RFC 9745, RFC 8594).
const deprecatedAtSeconds = Date.parse("2026-09-13T00:00:00Z") / 1_000
const links = [
  '</openapi.json>; rel="deprecation"; type="application/json"',
  '</v1/voices/consent-challenges>; rel="successor-version"'
]

/** A caller of an older version that names a challenge uses the challenge flow. */
export const isDeclaredFlow = (
  { hasDeclaredConsent }: { readonly hasDeclaredConsent: boolean },
  fields: Readonly<Record<string, string>>
): boolean => hasDeclaredConsent && fields["consent_challenge_id"] === undefined

const sunsetMs = (sunset: string) => Date.parse(`${sunset}T00:00:00Z`)

/** `sunset`: the first day, in UTC, on which the flow is gone. */
export const noticeHeaders = (sunset: string): Readonly<Record<string, string>> => ({
  deprecation: `@${deprecatedAtSeconds}`,
  sunset: new Date(sunsetMs(sunset)).toUTCString(),
  link: links.join(", ")
})

export const refusalAfter = (sunset: string, nowMs: number): WireError | undefined =>
  nowMs < sunsetMs(sunset)
    ? undefined
    : forbidden(
        `since ${sunset} voices are cloned with a consent challenge only: POST /v1/voices/consent-challenges, and send ` +
          "consent_challenge_id and consent_recording",
        { sunset }
      )
