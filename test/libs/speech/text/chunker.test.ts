import { assert, describe, it } from "@effect/vitest"
import { chunkLimits } from "../../../../libs/speech/text/chunker.ts"
import { assertLaws, read, sentenceOf } from "../laws.ts"

const textsOf = (input: string) => read(input).chunks.map(({ pieces }) => pieces.map(({ text }) => text).join(""))

describe("the chunks of a text", () => {
  it("are sentences, when these are short", () => {
    const reading = read("One two. Three four! Five.")
    assert.deepStrictEqual(
      reading.chunks.map((chunk) => [sentenceOf(chunk, reading), chunk.tokens.length]),
      [
        [0, 2],
        [1, 2],
        [2, 1]
      ]
    )
  })

  it("begin with a clause, when the first sentence is long", () => {
    const input = `Well, as I was saying before, ${"there was much to tell and more to hear ".repeat(4)}of it all.`
    const [first, second] = textsOf(input)
    assert.strictEqual(first, "Well, as I was saying before,")
    assert.isTrue(second?.startsWith("there was") && second.endsWith("of it all."))
    assert.strictEqual(read(input).sentences.length, 1)
  })

  it("go on behind a break within a sentence, which is all of the silence there", () => {
    const { chunks } = read('<speak>Wait here <break time="1s"/> for me. <break time="1s"/> Then go.</speak>')
    assert.deepStrictEqual(
      chunks.map(({ goesOn, pauseAfterMs }) => [goesOn, pauseAfterMs]),
      [
        [true, 1_000],
        [undefined, 1_000],
        [undefined, 0]
      ]
    )
  })

  it("begin with as much as fits, when the first sentence has no clause", () => {
    const [first = ""] = textsOf("word ".repeat(60))
    assert.isAtMost(first.length, chunkLimits.firstMax)
    assert.isAtLeast(first.length, chunkLimits.firstMax - 5)
  })

  it("begin with a clause of exactly as much as fits, and leave one that is longer", () => {
    const clauseOf = (length: number) => `${"word ".repeat(40).slice(0, length - 1)},`.replace(" ,", "s,")
    const rest = ` ${"and more of it ".repeat(20)}end.`
    const first = (length: number) => textsOf(`${clauseOf(length)}${rest}`)[0]
    assert.strictEqual(first(chunkLimits.firstMax), clauseOf(chunkLimits.firstMax))
    assert.notStrictEqual(first(chunkLimits.firstMax + 1), clauseOf(chunkLimits.firstMax + 1))
  })

  it("leave a later sentence whole up to 400 characters, and cut it at clauses beyond", () => {
    const long = `${"many words without a rest ".repeat(5)}here, `.repeat(5)
    const [hello, ...rest] = textsOf(`Hello. ${"Word ".repeat(70)}end. ${long}end.`)
    assert.strictEqual(hello, "Hello.")
    assert.strictEqual(rest[0]?.length, 354)
    for (const part of rest.slice(1)) assert.match(part, /,$|end\.$/u)
  })

  it("are cut at spaces without a clause, and between words without a space", () => {
    for (const input of [
      `Hi. ${"word ".repeat(200)}`,
      `好。${"我们在北京大学学习人工智能".repeat(80)}`,
      `Hi. ${"x".repeat(2_000)}`
    ]) {
      const reading = read(input)
      assertLaws(input, reading)
      assert.isAbove(reading.chunks.length, 2)
      assert.isAtMost(reading.sentences.length, 2)
    }
  })

  it("never cut one word of the source", () => {
    const alias = "a very long alias, ".repeat(20)
    const input = `<speak>First, <sub alias="${alias}">X</sub> and <sub alias="${alias}">Y</sub>.</speak>`
    const values = read(input).chunks.flatMap(({ tokens }) => tokens.map(({ value }) => value))
    assert.deepStrictEqual(values, ["First,", "X", "and", "Y"])
  })
})
