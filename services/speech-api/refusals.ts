/**
 * The refusals of the API, on the wire. A text that cannot be spoken gets a status before the first byte and an event
 * after it. A speaker who does not match the new voice never learns by how much. Pure.
 */
import { Schema } from "effect"
import type { AudioError, RecordingUnusable } from "#speech/audio"
import { Fault } from "#base"
import { speechErrorType } from "#speech/api"
import {
  amended,
  conflict,
  notFound,
  rateLimited,
  type RenderError,
  renderStandardError,
  serviceUnavailable,
  validationFailed,
  WireError
} from "#http"
import type { BusError } from "#bus"
import { emptyInput } from "#speech"
import type { NoSuchLexicon, TooManyLexicons } from "./lexicons/Lexicons.ts"
import type { ChallengeRefused } from "./voices/Challenges.ts"
import type { TooManyVoices } from "./voices/ClonedVoices.ts"
import type { ExamFault } from "./voices/VoiceExam.ts"

/** The standard envelope with the fields of OpenAI's. */
export const renderSpeechError: RenderError = (error, requestId) => {
  const standard = renderStandardError(error, requestId) as { readonly error: object; readonly request_id: string }
  const [param = null] = Object.keys(error.fields ?? {})
  return { ...standard, error: { ...standard.error, type: speechErrorType(error.status), param } }
}

/** The input is unreadable. */
export class InputRefused extends Schema.TaggedError<InputRefused>()("InputRefused", {
  faults: Schema.Array(Fault)
}) {}

/** The measurements say that it could not be heard in time, or only at the expense of present listeners. */
export class SpeechOverloaded extends Schema.TaggedError<SpeechOverloaded>()("SpeechOverloaded", {
  reason: Schema.Literals(["beginnings", "listeners", "stalled"]),
  retryAfterSeconds: Schema.Int
}) {}

/** Every sequencer is full, or none answers. */
export class SpeechBusy extends Schema.TaggedError<SpeechBusy>()("SpeechBusy", {
  retryAfterSeconds: Schema.Int,
  detail: Schema.String
}) {}

/** The session broke off and could not be resumed. */
export class SpeechFailed extends Schema.TaggedError<SpeechFailed>()("SpeechFailed", {
  code: Schema.String,
  message: Schema.String
}) {}

export type SpeechError = InputRefused | SpeechOverloaded | SpeechBusy | SpeechFailed | AudioError

// An encoder that has not started for seconds will not be ready in one more.
const startingSeconds = 5

/** The reason for the overload metric, if the refusal is due to lack of capacity. */
export const overloadReason = (error: SpeechError) => {
  if (error._tag === "SpeechBusy") return error.detail === "all are busy" ? "sequencers" : "unavailable"
  if (error._tag === "EncoderOverloaded") return error.lacks === "slots" ? "encoders" : "encoder_start"
  return undefined
}

/** `isDialogue`: the path of a fault names the turn; otherwise the single input. */
export const refusalOf = (error: SpeechError, isDialogue: boolean): WireError => {
  switch (error._tag) {
    case "InputRefused":
      return inputRefused(error, isDialogue)
    case "SpeechOverloaded":
      return rateLimited(error.retryAfterSeconds, "synthesis")
    case "SpeechBusy":
      return error.detail === "all are busy"
        ? rateLimited(error.retryAfterSeconds, "synthesis")
        : serviceUnavailable(error.retryAfterSeconds, "speech is not available at the moment")
    case "SpeechFailed":
      return error.code === "service_unavailable"
        ? serviceUnavailable(1, error.message)
        : new WireError({ status: 502, code: error.code, message: error.message })
    case "EncoderOverloaded":
      return error.lacks === "slots"
        ? rateLimited(1, "encoders")
        : serviceUnavailable(startingSeconds, "no encoder has started in time, try again")
    default:
      return serviceUnavailable(1, "audio cannot be encoded just now")
  }
}

/** Whether a refusal says that the input makes no sound. */
export const isOfSilence = ({ message }: WireError): boolean => message.startsWith(emptyInput)

const inputRefused = ({ faults }: InputRefused, isDialogue: boolean) => {
  const fields: Record<string, string> = {}
  for (const { path, message } of faults) {
    const field = isDialogue ? path.replace(/^turns\/(\d+)\/input$/u, "turns[$1].input") : "input"
    fields[field] = fields[field] === undefined ? message : `${fields[field]}; ${message}`
  }
  const message = Object.values(fields)[0] ?? "the input cannot be read"
  return new WireError({ status: 400, code: "validation_failed", message, fields })
}

export type VoiceFault = NoSuchLexicon | TooManyLexicons | ChallengeRefused | TooManyVoices | ExamFault | BusError

export const refusalOfVoice = (fault: VoiceFault): WireError => {
  switch (fault._tag) {
    case "ChallengeRefused":
      return refusalOfChallenge(fault)
    case "TooManyVoices":
      return new WireError({
        status: 403,
        code: "too_many_voices",
        message: `the workspace has ${fault.voicesMax} voices, which is as many as it may have; delete one first`,
        details: { voices_max: fault.voicesMax }
      })
    case "TooManyLexicons":
      return new WireError({
        status: 403,
        code: "too_many_lexicons",
        message: `the workspace has ${fault.lexiconsMax} lexicons, which is as many as it may have; delete one first`,
        details: { lexicons_max: fault.lexiconsMax }
      })
    case "NoSuchLexicon":
      return validationFailed({ lexicons: `no lexicon ${fault.name}` })
    case "AvatarUnusable":
      return validationFailed({ avatar: "must be a PNG, JPEG or WebP picture" })
    case "RecordingUnusable":
      return refusalOfRecording(fault)
    case "PhraseMismatch":
      return new WireError({
        status: 422,
        code: "consent_phrase_mismatch",
        message: "what is said in the consent recording is not the challenge's phrase",
        details: { words_matched: fault.wordsMatched, words_asked: fault.wordsAsked, words_min: fault.wordsMin }
      })
    case "SpeakerMismatch":
      return new WireError({ status: 422, code: "consent_speaker_mismatch", message: fault.message })
    case "VerificationUnavailable":
      return new WireError({
        status: 503,
        code: "consent_verification_unavailable",
        message: "consents cannot be verified just now",
        headers: { "retry-after": String(fault.retryAfterSeconds) }
      })
    case "TooLittleVoice":
      return refusalOfSample(fault.message, "too_little_voice")
    case "IntakeBusy":
    case "VoiceMeasureUnavailable":
      return serviceUnavailable(fault.retryAfterSeconds, "too many recordings are being examined, try again")
    case "FfmpegMissing":
      return serviceUnavailable(30, "recordings cannot be read just now")
    default:
      return serviceUnavailable(1, "voices cannot be kept just now")
  }
}

const refusalOfChallenge = ({ reason }: ChallengeRefused) => {
  if (reason === "not_found") return notFound("no such consent challenge", "consent_challenge_not_found")
  return reason === "expired"
    ? conflict("the consent challenge has expired; start another one", "consent_challenge_expired")
    : conflict("the consent challenge was used already; start another one", "consent_challenge_already_used")
}

/** A bad sample is a field fault like others; a bad consent has a code of its own. */
const refusalOfRecording = ({ name, reason, detail, message }: RecordingUnusable) => {
  if (name === "consent_recording") {
    return new WireError({ status: 422, code: "consent_recording_unusable", message, details: { reason } })
  }
  return refusalOfSample(detail, reason)
}

const refusalOfSample = (detail: string, reason: string) =>
  amended(validationFailed({ sample: detail }), { details: { reason } })
