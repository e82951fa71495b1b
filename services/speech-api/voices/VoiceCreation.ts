/**
 * Creates a voice: reserves it among the workspace's voices, has the form examined, stores the files, then the consent,
 * and only then is it a voice. Any failure undoes what was written. What a dying process has written has a reservation,
 * where the sweep finds it.
 */
import { Clock, Context, Effect, Exit, Layer } from "effect"
import type { BusError } from "#bus"
import { isoTime } from "#base"
import { Configuration } from "#configuration"
import { ClonedVoices, type Reservation, type TooManyVoices } from "./ClonedVoices.ts"
import { Consents } from "./Consents.ts"
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

export class VoiceCreation extends Context.Service<
  VoiceCreation,
  { readonly create: (request: VoiceRequest) => Effect.Effect<ClonedVoice, TooManyVoices | ExamFault | BusError> }
>()("starling/speech-api/VoiceCreation") {
  static readonly layer = Layer.effect(
    VoiceCreation,
    Effect.gen(function* () {
      const { VoiceCloning } = yield* Configuration
      const hasZeroShotModel = VoiceCloning.ZeroShotModelFolder !== ""
      const voices = yield* ClonedVoices
      const consents = yield* Consents
      const files = yield* VoiceFiles
      const removal = yield* VoiceRemoval
      const exam = yield* VoiceExam

      const keep = Effect.fnUntraced(function* (reservation: Reservation, request: VoiceRequest, examined: Examined) {
        const { order, workspace, tokenId } = request
        const sample = yield* files.keep(reservation, "sample", order.sample, examined.sampleType)
        const { avatarType } = examined
        const isPictured = order.avatar !== undefined && avatarType !== undefined
        const avatar = isPictured ? yield* files.keep(reservation, "avatar", order.avatar, avatarType) : null
        const reference = hasZeroShotModel ? yield* keepReference(files, reservation, examined) : null
        const given = yield* keepConsent(files, reservation, examined)
        const now = isoTime(yield* Clock.currentTimeMillis)
        const consent = {
          voiceId: reservation.id,
          workspace,
          tokenId,
          givenAt: now,
          voiceDeletedAt: null,
          sample,
          ...given
        }
        yield* consents.keep(consent)
        const { name, gender, locale } = order
        const { traits } = examined
        const at = { id: reservation.id, workspace, createdAt: now, changedAt: now }
        const voice: ClonedVoice = { _tag: "Ready", ...at, name, gender, locale, traits, sample, avatar, reference }
        yield* voices.complete(reservation, voice)
        return voice
      })

      const work = Effect.fnUntraced(function* (reservation: Reservation, request: VoiceRequest) {
        const examined = yield* exam.examine(request.order)
        return yield* keep(reservation, request, examined)
      })

      const create = Effect.fn("VoiceCreation.create")(function* (request: VoiceRequest) {
        const { workspace, order } = request
        const id = order.consent._tag === "Read" ? order.consent.used.voiceId : crypto.randomUUID()
        return yield* Effect.acquireUseRelease(
          voices.reserve({ workspace, id }),
          (held) => ("_tag" in held ? Effect.succeed(held) : work(held, request)),
          (held, exit) => ("_tag" in held || Exit.isSuccess(exit) ? Effect.void : removal.giveUp(held))
        )
      })
      return VoiceCreation.of({ create })
    })
  )
}

type Files = VoiceFiles["Service"]

const keepConsent = Effect.fnUntraced(function* (files: Files, reservation: Reservation, { consent }: Examined) {
  if (consent._tag === "Declared") {
    const { fullName, email } = consent
    return { fullName, method: { _tag: "Declared", email } } as const
  }
  const { id: challengeId, fullName, phrase, createdAt: challengedAt } = consent.used.challenge
  const recording = yield* files.keep(reservation, "consent", consent.recording, consent.recordingType)
  const { evidence } = consent
  return { fullName, method: { _tag: "Verified", challengeId, phrase, challengedAt, evidence, recording } } as const
})

/** The phrase is a recording whose words are known; a sample's are not. */
const keepReference = Effect.fnUntraced(function* (files: Files, reservation: Reservation, { consent }: Examined) {
  if (consent._tag === "Declared") return null
  const object = yield* files.keepReference(reservation, consent.samples)
  return { object, text: consent.used.challenge.phrase }
})
