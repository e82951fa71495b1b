import { assert, describe, it } from "@effect/vitest"
import type { MarksShown } from "../../../../services/cli/say/order.ts"
import { showWords } from "../../../../services/cli/say/words.ts"

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
  it("are the text as it was written, also where no mark stands", () => {
    const text = "“Hello”, he said\n(on a Thursday)."
    assert.strictEqual(shown(text, ["Hello", "he", "said", "on", "a", "Thursday"], "words").out, `${text}\n`)
  })

  it("are shown without the tags around them", () => {
    const text = '<speak>One <break time="1s"/><emphasis>two</emphasis>.</speak>'
    assert.strictEqual(shown(text, ["One", "two"], "words").out, "One two .\n")
  })

  it("end where the speech was broken off", () => {
    assert.strictEqual(shown("one two three", ["one"], "words", false).out, "one\n")
    assert.strictEqual(shown("one two three", [], "words", false).out, "")
  })

  it("are JSON lines when those are asked for, and nothing when they are not", () => {
    const lines = shown("one two", ["one", "two"], "json").out.trimEnd().split("\n")
    assert.deepStrictEqual(
      lines.map((line) => (JSON.parse(line) as { value: string }).value),
      ["one", "two"]
    )
    assert.strictEqual(shown("one two", ["one", "two"], undefined).out, "")
  })

  it("of a long text say how far it has come, and leave a clean line behind", () => {
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
