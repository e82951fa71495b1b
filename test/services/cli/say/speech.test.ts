import { assert, describe, it } from "@effect/vitest"
import { eventReader, type SpeechEvent } from "../../../../services/cli/say/speech.ts"

const mark = { type: "word", start: 0, end: 6, start_time: 0, end_time: 297.5, value: "Grüße!" }
const event = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
const audio = Buffer.from([1, 2, 3]).toString("base64")
const whole = Buffer.from(
  [
    event("speech.chunk", { audio }),
    ": keep-alive\n\n",
    event("speech.mood", { mood: "sunny" }),
    event("speech.chunk", { speech_marks: [mark] }),
    event("speech.done", { billable_characters_count: 6, audio_duration_ms: 1209.4 })
  ].join("")
)

const readIn = (bytesEach: number) => {
  const read = eventReader()
  const events: Array<SpeechEvent> = []
  for (let at = 0; at < whole.length; at += bytesEach) events.push(...read(whole.subarray(at, at + bytesEach)))
  return events
}

describe("the events of a speech", () => {
  it("are read from pieces of any size, and what is not known is passed over", () => {
    for (const bytesEach of [1, 7, 64, whole.length]) {
      assert.deepStrictEqual(readIn(bytesEach), [
        { type: "chunk", audio: Buffer.from([1, 2, 3]), marks: [] },
        { type: "chunk", audio: Buffer.from([]), marks: [{ ...mark, type: "word" as const }] },
        { type: "done", durationMs: 1209.4 }
      ])
    }
  })

  it("tell a failure with its code and its request", () => {
    const error = { error: { code: "upstream_failure", message: "the speech broke off" }, request_id: "req_1" }
    assert.deepStrictEqual(eventReader()(Buffer.from(event("speech.error", error))), [
      { type: "failed", reason: "the speech broke off (upstream_failure, req_1)" }
    ])
  })

  it("are a failure when they are not what they should be", () => {
    for (const broken of ["event: speech.done\ndata: {\n\n", event("speech.chunk", { audio: 1 })]) {
      assert.strictEqual(eventReader()(Buffer.from(broken))[0]?.type, "failed")
    }
  })
})
