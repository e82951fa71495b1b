/** The refusals of a voice's creation, on the wire. A speaker who does not match never learns by how much. Pure. */
import type { RecordingUnusable } from "#audio"
import type { BusError } from "#bus"
import { amended, conflict, notFound, serviceUnavailable, validationFailed, WireError } from "#http"
import type { ChallengeRefused } from "./Challenges.ts"
import type { TooManyVoices } from "./ClonedVoices.ts"
import type { ExamFault } from "./VoiceExam.ts"

export type VoiceFault = ChallengeRefused | TooManyVoices | ExamFault | BusError

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
      return serviceUnavailable(fault.retryAfterSeconds, "too many recordings are being looked at, try again")
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

/** A bad sample is a field's fault like others; a bad consent has a code of its own. */
const refusalOfRecording = ({ name, reason, detail, message }: RecordingUnusable) => {
  if (name === "consent_recording") {
    return new WireError({ status: 422, code: "consent_recording_unusable", message, details: { reason } })
  }
  return refusalOfSample(detail, reason)
}

const refusalOfSample = (detail: string, reason: string) =>
  amended(validationFailed({ sample: detail }), { details: { reason } })
