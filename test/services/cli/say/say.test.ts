import { assert, describe, it } from "@effect/vitest"
import type { MarksShown } from "../../../../services/cli/say/order.ts"
import { eventReader, modelFor, routed, showWords, type SpeechEvent } from "../../../../services/cli/say/say.ts"

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

describe("the model of a voice", () => {
  const format = { outputFormat: "mp3_24000_64", route: "stream", wavRateHz: undefined } as const
  const voice = (...names: ReadonlyArray<"tts-3.0" | "tts-multilingual">) => ({
    models: names.map((name) => ({ name, languages: [{ locale: "nl-NL", preview_audio: null }] }))
  })
  it("is named where the default one does not speak with it", () => {
    assert.strictEqual(modelFor(voice("tts-multilingual")), "tts-multilingual")
    assert.strictEqual(modelFor(voice("tts-3.0", "tts-multilingual")), undefined)
    assert.strictEqual(modelFor(undefined), undefined)
  })

  it("answers at once where it has no marks on a stream, if the text is short enough", () => {
    const [model, of] = ["tts-multilingual", { voice: undefined }]
    assert.strictEqual(routed({ text: "a".repeat(2_000), format }, { model, ...of }).route, "answer")
    assert.strictEqual(routed({ text: "a".repeat(2_001), format }, { model, ...of }).route, "stream")
    assert.strictEqual(routed({ text: "a", format }, { model: "tts-3.0", ...of }).route, "stream")
    assert.strictEqual(routed({ text: "a", format }, { model: undefined, ...of }).route, "stream")
  })

  it("answers at once with a voice that takes longer to speak than to be heard", () => {
    const routeOf = (real_time?: boolean) =>
      routed({ text: "a", format }, { model: undefined, voice: real_time === undefined ? {} : { real_time } }).route
    assert.deepStrictEqual([routeOf(false), routeOf(true), routeOf()], ["answer", "stream", "stream"])
  })
})

describe("the events of a speech", () => {
  it("are read from pieces of any size, and unknown ones are skipped", () => {
    for (const bytesEach of [1, 7, 64, whole.length]) {
      assert.deepStrictEqual(readIn(bytesEach), [
        { type: "chunk", audio: Buffer.from([1, 2, 3]), marks: [] },
        { type: "chunk", audio: Buffer.from([]), marks: [{ ...mark, type: "word" as const }] },
        { type: "done", durationMs: 1209.4 }
      ])
    }
  })

  it("report a failure with its code and its request", () => {
    const error = { error: { code: "upstream_failure", message: "the speech broke off" }, request_id: "req_1" }
    assert.deepStrictEqual(eventReader()(Buffer.from(event("speech.error", error))), [
      { type: "failed", reason: "the speech broke off (upstream_failure, req_1)" }
    ])
  })

  it("are a failure when they are malformed", () => {
    for (const broken of ["event: speech.done\ndata: {\n\n", event("speech.chunk", { audio: 1 })]) {
      assert.strictEqual(eventReader()(Buffer.from(broken))[0]?.type, "failed")
    }
  })
})

const shown = (text: string, values: ReadonlyArray<string>, marks: MarksShown | undefined, isWhole = true) => {
  let [out, progress, at] = ["", "", 0]
  const words = showWords({
    text,
    marks,
    hasProgress: true,
    out: (part) => (out += part),
    progress: (part) => (progress += part)
  })
  for (const value of values) {
    const start = text.indexOf(value, at)
    at = start + value.length
    words.show({ type: "word", start, end: at, start_time: start * 100, end_time: at * 100, value })
  }
  words.end(isWhole)
  return { out, progress }
}

describe("the words of a speech", () => {
  it("are the text as written, even without a mark", () => {
    const text = "“Hello”, he said\n(on a Thursday)."
    assert.strictEqual(shown(text, ["Hello", "he", "said", "on", "a", "Thursday"], "words").out, `${text}\n`)
  })

  it("are shown without the tags around them", () => {
    const text = '<speak>One <break time="1s"/><emphasis>two</emphasis>.</speak>'
    assert.strictEqual(shown(text, ["One", "two"], "words").out, "One two .\n")
  })

  it("end where the speech broke off", () => {
    assert.strictEqual(shown("one two three", ["one"], "words", false).out, "one\n")
    assert.strictEqual(shown("one two three", [], "words", false).out, "")
  })

  it("are JSON lines on request, and absent otherwise", () => {
    const lines = shown("one two", ["one", "two"], "json").out.trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => (JSON.parse(line) as { value: string }).value),
      ["one", "two"]
    )
    assert.strictEqual(shown("one two", ["one", "two"], undefined).out, "")
  })

  it("of a long text show the progress, and leave a clean line behind", () => {
    const text = "word ".repeat(100).trim()
    const { progress } = shown(
      text,
      Array.from({ length: 100 }, () => "word"),
      undefined
    )
    assert.include(progress, "499 of 499 characters, 0:49")
    assert.isTrue(progress.endsWith("\r\u001b[K"))
    assert.strictEqual(shown("word", ["word"], undefined).progress, "")
  })
})
