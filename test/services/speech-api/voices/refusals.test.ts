import { assert, describe, it } from "@effect/vitest"
import { IntakeBusy, FfmpegMissing, RecordingUnusable } from "#audio"
import { BusUnavailable } from "#bus"
import {
  PhraseMismatch,
  SpeakerMismatch,
  TooLittleVoice,
  VerificationUnavailable,
  VoiceMeasureUnavailable
} from "#voice-cloning"
import { ChallengeRefused } from "../../../../services/speech-api/voices/Challenges.ts"
import { TooManyVoices } from "../../../../services/speech-api/voices/ClonedVoices.ts"
import { AvatarUnusable } from "../../../../services/speech-api/voices/VoiceExam.ts"
import { refusalOfVoice, type VoiceFault } from "../../../../services/speech-api/voices/refusals.ts"

const unusable = (name: string) => new RecordingUnusable({ name, reason: "too_short", detail: "it is 4 s long" })
const unavailable = { detail: "x", retryAfterSeconds: 5 }

const table: ReadonlyArray<[VoiceFault, number, string]> = [
  [new ChallengeRefused({ reason: "not_found" }), 404, "consent_challenge_not_found"],
  [new ChallengeRefused({ reason: "expired" }), 409, "consent_challenge_expired"],
  [new ChallengeRefused({ reason: "already_used" }), 409, "consent_challenge_already_used"],
  [new TooManyVoices({ voicesMax: 3 }), 403, "too_many_voices"],
  [unusable("sample"), 400, "validation_failed"],
  [unusable("consent_recording"), 422, "consent_recording_unusable"],
  [new AvatarUnusable(), 400, "validation_failed"],
  [new TooLittleVoice({ voicedSeconds: 1, voicedSecondsMin: 3 }), 400, "validation_failed"],
  [
    new PhraseMismatch({ heardWords: ["lemon"], wordsMatched: 1, wordsAsked: 5, wordsMin: 4 }),
    422,
    "consent_phrase_mismatch"
  ],
  [new SpeakerMismatch({ distance: 30, distanceMax: 12, method: "kl" }), 422, "consent_speaker_mismatch"],
  [
    new VerificationUnavailable({ stage: "phrase", reason: "missing", ...unavailable }),
    503,
    "consent_verification_unavailable"
  ],
  [new VoiceMeasureUnavailable({ reason: "busy", ...unavailable }), 503, "service_unavailable"],
  [new IntakeBusy({ waitingMax: 16, retryAfterSeconds: 2 }), 503, "service_unavailable"],
  [new FfmpegMissing({ path: "ffmpeg", detail: "no such file" }), 503, "service_unavailable"],
  [new BusUnavailable({ operation: "create voices/x", detail: "timeout" }), 503, "service_unavailable"]
]

describe("a failed creation of a voice", () => {
  it.each(table.map(([fault, status, code]) => [fault._tag, status, code, fault] as const))(
    "for %s gets %d %s",
    (_, status, code, fault) => {
      const refusal = refusalOfVoice(fault)
      assert.deepStrictEqual([refusal.status, refusal.code], [status, code])
      if (status === 503) assert.isAtLeast(Number(refusal.headers?.["retry-after"]), 1)
    }
  )

  it("names the sample among the fields, and its fault", () => {
    const { fields, details } = refusalOfVoice(unusable("sample"))
    assert.deepStrictEqual([fields, details], [{ sample: "it is 4 s long" }, { reason: "too_short" }])
  })

  it("does not show a stranger how close the attempt was, nor the recognised words", () => {
    for (const [fault] of table.filter(([{ _tag }]) => _tag === "SpeakerMismatch" || _tag === "PhraseMismatch")) {
      const told = JSON.stringify(refusalOfVoice(fault))
      assert.notInclude(told, "30")
      assert.notInclude(told, "lemon")
    }
  })
})
