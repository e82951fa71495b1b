import { assert, describe, it } from "@effect/vitest"
import { EncoderFailed, EncoderOverloaded, FfmpegMissing } from "#audio"
import { speechErrorCodes } from "#contracts/speech-api"
import {
  InputRefused,
  refusalOf,
  SpeechBusy,
  type SpeechError,
  SpeechFailed,
  SpeechOverloaded
} from "../../../../services/speech-api/speaking/refusals.ts"

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
