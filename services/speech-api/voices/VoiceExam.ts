/**
 * Examines everything that was sent for a voice before any of it is stored: the picture, the two recordings, the
 * speaker's consent, and the quality of the sample. The cheapest check comes first.
 */
import { createReadStream } from "node:fs"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Context, Effect, Layer, Schema, Stream } from "effect"
import {
  type IntakeBusy,
  type FfmpegMissing,
  type Recording,
  RecordingIntake,
  type RecordingUnusable
} from "#speech/audio"
import type { VoiceTraits } from "#speech/contract"
import type { FormFile } from "#http"
import { Configuration } from "#configuration"
import {
  type ConsentEvidence,
  type ConsentRefusal,
  consentLimits,
  ConsentVerification,
  type TooLittleVoice,
  VoiceMeasure,
  type VoiceMeasureUnavailable
} from "#speech/cloning"
import type { GivenConsent, VoiceOrder } from "./form.ts"

export class AvatarUnusable extends Schema.TaggedError<AvatarUnusable>()("AvatarUnusable", {}) {}

export interface Examined {
  readonly traits: VoiceTraits
  readonly sampleType: string
  readonly avatarType: string | undefined
  readonly consent: FoundConsent
}

/** A consent as given, and the findings for one that was read. */
type FoundConsent =
  | Extract<GivenConsent, { readonly _tag: "Declared" }>
  | (Extract<GivenConsent, { readonly _tag: "Read" }> & {
      readonly evidence: ConsentEvidence
      readonly recordingType: string
      /** The decoded recording. */
      readonly samples: Int16Array
    })

export type ExamFault =
  | AvatarUnusable
  | RecordingUnusable
  | IntakeBusy
  | FfmpegMissing
  | ConsentRefusal
  | TooLittleVoice
  | VoiceMeasureUnavailable

export class VoiceExam extends Context.Service<
  VoiceExam,
  { readonly examine: (order: VoiceOrder) => Effect.Effect<Examined, ExamFault> }
>()("starling/speech-api/VoiceExam") {
  static readonly layer = Layer.effect(
    VoiceExam,
    Effect.gen(function* () {
      const limits = consentLimits((yield* Configuration).VoiceCloning)
      const intake = yield* RecordingIntake
      const verification = yield* ConsentVerification
      const measuring = yield* VoiceMeasure

      const verifyConsent = Effect.fnUntraced(function* (given: GivenConsent, sample: Recording) {
        if (given._tag === "Declared") return given
        const { path } = given.recording
        const recording = yield* intake.readRecording(path, limits.consentRecording)
        const claim = { words: given.used.challenge.words, recording, sample }
        const evidence = yield* verification.verify(claim)
        const type = recordingType(yield* headOf(given.recording))
        return { ...given, evidence, recordingType: type, samples: recording.samples }
      })

      const examine = Effect.fn("VoiceExam.examine")(function* (order: VoiceOrder) {
        const avatarType = order.avatar === undefined ? undefined : pictureType(yield* headOf(order.avatar))
        if (order.avatar !== undefined && avatarType === undefined) return yield* new AvatarUnusable()
        const sampleType = recordingType(yield* headOf(order.sample))
        const sample = yield* intake.readRecording(order.sample.path, limits.sample)
        const consent = yield* verifyConsent(order.consent, sample)
        const traits = yield* measuring.measure(sample)
        const examined: Examined = { traits, sampleType, avatarType, consent }
        return examined
      })
      return VoiceExam.of({ examine })
    })
  )
}

/** The file is ours, on our disk: a failure to read it is not the caller's fault. */
const headOf = ({ path }: FormFile) =>
  NodeStream.fromReadable({ evaluate: () => createReadStream(path, { end: headBytes - 1 }) }).pipe(
    Stream.runCollect,
    Effect.map((parts) => Buffer.concat(parts)),
    Effect.orDie
  )

// The first bytes show what a file is; the caller's name and type for it are not trusted.
const startsWith = (bytes: Uint8Array, text: string, at = 0) =>
  [...text].every((character, index) => bytes[at + index] === character.charCodeAt(0))

// Enough bytes to distinguish the formats.
export const headBytes = 32

/** Undefined for anything but PNG, JPEG and WebP. */
export const pictureType = (head: Uint8Array): string | undefined => {
  if (startsWith(head, "\u0089PNG\r\n\u001A\n")) return "image/png"
  if (startsWith(head, "\u00FF\u00D8\u00FF")) return "image/jpeg"
  return startsWith(head, "RIFF") && startsWith(head, "WEBP", 8) ? "image/webp" : undefined
}

/** For a recording that was already decoded; an unknown beginning gives plain bytes. */
export const recordingType = (head: Uint8Array): string => {
  if (startsWith(head, "RIFF") && startsWith(head, "WAVE", 8)) return "audio/wav"
  if (startsWith(head, "ID3")) return "audio/mpeg"
  if (startsWith(head, "OggS")) return "audio/ogg"
  if (startsWith(head, "fLaC")) return "audio/flac"
  if (startsWith(head, "ftyp", 4)) return "audio/mp4"
  if (startsWith(head, "\u001AE\u00DF\u00A3")) return "audio/webm"
  const [first = 0, second = 0] = head
  if (first !== 0xff) return "application/octet-stream"
  if ((second & 0xf6) === 0xf0) return "audio/aac"
  return (second & 0xe0) === 0xe0 ? "audio/mpeg" : "application/octet-stream"
}
