import { assert, describe, it } from "@effect/vitest"
import { BusUnavailable } from "../../../../libs/bus/errors.ts"
import { notFound, serviceUnavailable, validationFailed } from "../../../../libs/http/WireError.ts"
import { EncoderFailed, FfmpegMissing } from "../../../../libs/speech/audio/errors.ts"
import { afterAttempt } from "../../../../services/speech-api/jobs/work.ts"
import { InputRefused, SpeechBusy, SpeechFailed } from "../../../../services/speech-api/refusals.ts"

const broken = new SpeechFailed({ code: "upstream_failure", message: "the speech broke off" })

describe("a job that goes no further", () => {
  const waits = [
    ["while every sequencer is full", new SpeechBusy({ retryAfterSeconds: 1, detail: "all are busy" })],
    ["while no sequencer is there", new SpeechFailed({ code: "service_unavailable", message: "broke off" })],
    ["while its engine is lost", serviceUnavailable(60, "the voice cannot speak at present")],
    ["while the broker is away", new BusUnavailable({ operation: "put", detail: "no responders" })],
    ["until ffmpeg is there", new FfmpegMissing({ path: "ffmpeg", detail: "ENOENT" })]
  ] as const
  for (const [when, error] of waits) {
    it(`waits ${when}, and counts no failure`, () => {
      const after = afterAttempt(error)
      assert.isTrue(after._tag === "Rest" && after.forMs > 0)
    })
  }

  it("counts a passage that broke off, or a chapter that no encoder took, and tries again", () => {
    for (const error of [broken, new EncoderFailed({ encoder: "m4b", exitCode: 1, lines: [] })]) {
      const after = afterAttempt(error)
      assert.isTrue(after._tag === "Again" && after.fault.code === "upstream_failure")
    }
  })

  it("ends at once with the reason, if it would fail the same again", () => {
    const gone = notFound("no voice ada", "voice_not_found")
    assert.deepStrictEqual(afterAttempt(gone), {
      _tag: "Fail",
      fault: { code: "voice_not_found", message: "no voice ada" }
    })
    assert.strictEqual(afterAttempt(validationFailed({ lexicons: "no lexicon names" }))._tag, "Fail")
    const unread = new InputRefused({ faults: [{ path: "turns/0/input", message: "no voice reads Greek" }] })
    assert.deepStrictEqual(afterAttempt(unread), {
      _tag: "Fail",
      fault: { code: "validation_failed", message: "no voice reads Greek" }
    })
  })
})
