import { assert, describe, it } from "@effect/vitest"
import { EncoderFailed, EncoderOverloaded, FfmpegMissing, IntakeBusy, RecordingUnusable } from "#speech/audio"
import { speechErrorCodes } from "#speech/api"
import { BusUnavailable } from "#bus"
import {
  PhraseMismatch,
  SpeakerMismatch,
  TooLittleVoice,
  VerificationUnavailable,
  VoiceMeasureUnavailable
} from "#speech/cloning"
import {
  InputRefused,
  refusalOf,
  refusalOfVoice,
  SpeechBusy,
  type SpeechError,
  SpeechFailed,
  SpeechOverloaded,
  type VoiceFault
} from "../../../services/speech-api/refusals.ts"
import { ChallengeRefused } from "../../../services/speech-api/voices/Challenges.ts"
import { TooManyVoices } from "../../../services/speech-api/voices/ClonedVoices.ts"
import { AvatarUnusable } from "../../../services/speech-api/voices/VoiceExam.ts"

const failures: ReadonlyArray<readonly [string, SpeechError, number, string]> = [
  ["an input that cannot be read", new InputRefused({ faults: [] }), 400, "validation_failed"],
  ["full sequencers", new SpeechBusy({ retryAfterSeconds: 3, detail: "all are busy" }), 429, "rate_limited"],
  ["no sequencer", new SpeechBusy({ retryAfterSeconds: 1, detail: "no responders" }), 503, "service_unavailable"],
  ["a broken speech", new SpeechFailed({ code: "upstream_failure", message: "no" }), 502, "upstream_failure"],
  ["a lost speech", new SpeechFailed({ code: "service_unavailable", message: "no" }), 503, "service_unavailable"],
  ["full encoders", new EncoderOverloaded({ lacks: "slots", processesMax: 1, waitMsMax: 1 }), 429, "rate_limited"],
  [
    "encoders that start slowly",
    new EncoderOverloaded({ lacks: "starts", processesMax: 1, waitMsMax: 1 }),
    503,
    "service_unavailable"
  ],
  ["too many beginnings", new SpeechOverloaded({ reason: "beginnings", retryAfterSeconds: 7 }), 429, "rate_limited"],
  ["a broken encoder", new EncoderFailed({ encoder: "mp3", exitCode: 1, lines: [] }), 503, "service_unavailable"],
  ["no encoder", new FfmpegMissing({ path: "ffmpeg", detail: "ENOENT" }), 503, "service_unavailable"]
]

describe("an internal failure", () => {
  it.each(failures)("%s has a status, a code, and a Retry-After", (_name, failure, status, code) => {
    const refusal = refusalOf(failure, false)
    assert.deepStrictEqual([refusal.status, refusal.code], [status, code])
    assert.strictEqual(speechErrorCodes[code as keyof typeof speechErrorCodes].status, status)
    if (status === 429 || status === 503) assert.match(refusal.headers?.["retry-after"] ?? "", /^[1-9]\d*$/u)
  })

  it("of the input names the caller's field", () => {
    const faults = [
      { path: "turns/1/input", message: "one" },
      { path: "turns/1/input", message: "two" }
    ]
    assert.deepStrictEqual(refusalOf(new InputRefused({ faults }), true).fields, { "turns[1].input": "one; two" })
    assert.deepStrictEqual(refusalOf(new InputRefused({ faults }), false).fields, { input: "one; two" })
  })
})

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
