/**
 * Makes a voice: takes a place among the workspace's voices, has the form examined, keeps the files, then the consent,
 * and only then is it a voice. Any failure takes back what was written. What a dying process has written stands under
 * its place, where the sweep finds it.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { BusError } from "#bus"
import { isoTime } from "#contracts"
import { Configuration, Metrics } from "#runtime"
import { ClonedVoices, type TakenPlace, type TooManyVoices } from "./ClonedVoices.ts"
import { Consents } from "./Consents.ts"
import { voiceStageSeconds } from "../metrics.ts"
import type { ClonedVoice } from "./records.ts"
import { type ExamFault, type Examined, VoiceExam } from "./VoiceExam.ts"
import { VoiceFiles } from "./VoiceFiles.ts"
import type { VoiceOrder } from "./form.ts"
import { VoiceRemoval } from "./VoiceRemoval.ts"

export interface VoiceRequest {
  readonly workspace: string
  readonly tokenId: string
  readonly order: VoiceOrder
}

export class VoiceMaking extends Context.Service<
  VoiceMaking,
  { readonly make: (request: VoiceRequest) => Effect.Effect<ClonedVoice, TooManyVoices | ExamFault | BusError> }
>()("starling/speech-api/VoiceMaking") {
  static readonly layer = Layer.effect(
    VoiceMaking,
    Effect.gen(function* () {
      const { VoiceCloning } = yield* Configuration
      const hasZeroShotModel = VoiceCloning.ZeroShotModelFolder !== ""
      const voices = yield* ClonedVoices
      const consents = yield* Consents
      const files = yield* VoiceFiles
      const removal = yield* VoiceRemoval
      const exam = yield* VoiceExam
      const stages = (yield* Metrics).histogram(voiceStageSeconds)

      const keepConsent = Effect.fnUntraced(function* (place: TakenPlace, { consent }: Examined) {
        if (consent._tag === "Declared") {
          const { fullName, email } = consent
          return { fullName, method: { _tag: "Declared", email } } as const
        }
        const { id: challengeId, fullName, phrase, createdAt: challengedAt } = consent.used.challenge
        const recording = yield* files.keep(place, "consent", consent.recording, consent.recordingType)
        const { evidence } = consent
        return {
          fullName,
          method: { _tag: "Verified", challengeId, phrase, challengedAt, evidence, recording }
        } as const
      })

      /** The phrase is a recording whose words are known; a sample's are not. */
      const keepReference = Effect.fnUntraced(function* (place: TakenPlace, { consent }: Examined) {
        if (!hasZeroShotModel || consent._tag === "Declared") return null
        const object = yield* files.keepReference(place, consent.samples)
        return { object, text: consent.used.challenge.phrase }
      })

      const keep = Effect.fnUntraced(function* (place: TakenPlace, request: VoiceRequest, examined: Examined) {
        const { order, workspace, tokenId } = request
        const sample = yield* files.keep(place, "sample", order.sample, examined.sampleType)
        const { avatarType } = examined
        const isPictured = order.avatar !== undefined && avatarType !== undefined
        const avatar = isPictured ? yield* files.keep(place, "avatar", order.avatar, avatarType) : null
        const reference = yield* keepReference(place, examined)
        const given = yield* keepConsent(place, examined)
        const now = isoTime(yield* Clock.currentTimeMillis)
        const consent = { voiceId: place.id, workspace, tokenId, givenAt: now, voiceDeletedAt: null, sample, ...given }
        yield* consents.keep(consent)
        const { name, gender, locale } = order
        const { traits } = examined
        const at = { id: place.id, workspace, createdAt: now, changedAt: now }
        const voice: ClonedVoice = { _tag: "Ready", ...at, name, gender, locale, traits, sample, avatar, reference }
        yield* voices.fill(place, voice)
        return voice
      })

      const work = Effect.fnUntraced(function* (place: TakenPlace, request: VoiceRequest) {
        const examined = yield* exam.examine(request.order)
        const startedMs = yield* Clock.currentTimeMillis
        const voice = yield* keep(place, request, examined)
        stages.observe({ stage: "store" }, ((yield* Clock.currentTimeMillis) - startedMs) / 1_000)
        return voice
      })

      const make = Effect.fn("VoiceMaking.make")(function* (request: VoiceRequest) {
        const { workspace, order } = request
        const id = order.consent._tag === "Read" ? order.consent.used.voiceId : crypto.randomUUID()
        return yield* Effect.acquireUseRelease(
          voices.take({ workspace, id }),
          (taken) => ("_tag" in taken ? Effect.succeed(taken) : work(taken, request)),
          (taken, exit) => ("_tag" in taken || Exit.isSuccess(exit) ? Effect.void : removal.giveUp(taken))
        )
      })
      return VoiceMaking.of({ make })
    })
  )
}
