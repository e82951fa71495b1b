import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { Lexeme } from "#speech/contract"
import { lexemesIn, matcherOf, wordsFound } from "../../../../libs/speech/lexicon/lexeme.ts"
import { readInput } from "../../../../libs/speech/read-input.ts"
import { assertLaws, seeded } from "../laws.ts"

const words = ["SQL", "sql server", "New York", "York", "tomato", "C++", ".NET", "AT&T", "東京", "Nguyen", "naïve", "a"]
const matcher = matcherOf(words.map((grapheme) => ({ grapheme, alias: "x" })))
const found = (text: string) => wordsFound(text, matcher).map(({ from, to }) => text.slice(from, to))

describe("the words of a lexicon", () => {
  it.each([
    ["SQL and MySQL, SQLite or sql.", ["SQL"]],
    ["Use SQL Server or Sql  Server.", ["SQL Server", "Sql  Server"]],
    ["New\nYork, New Yorker, York", ["New\nYork", "York"]],
    ["Tomato TOMATO tomatoes tomato's", ["Tomato", "TOMATO", "tomato"]],
    ["C++, C+ and C++17 (.NET) x.NET", ["C++", "C++", ".NET", ".NET"]],
    ["AT&T at&t", ["AT&T"]],
    ["我在東京都", ["東京"]],
    ["nguyen Nguyen NGUYEN", ["Nguyen"]],
    ["NAÏVE naïvely", ["NAÏVE"]],
    ["a A an", ["a", "A"]],
    ["", []]
  ])("in %j are %j", (text, expected) => {
    assert.deepStrictEqual(found(text), expected)
  })

  it("that an input may need are found in its text, not in its tags", () => {
    const needed = (input: string) => lexemesIn(input, matcher).lexemes.map(({ grapheme }) => grapheme)
    assert.deepStrictEqual(needed("York York SQL"), ["York", "SQL"])
    assert.strictEqual(lexemesIn("York York SQL x", matcher).charactersMore, 3)
    assert.deepStrictEqual(needed(`<speak>AT&amp;T <sub alias="tomato">x</sub> &#83;QL</speak>`), ["AT&T", "SQL"])
  })

  it("may be a thousand that begin alike, and cost no more than one", () => {
    const many = matcherOf(Array.from({ length: 1_000 }, (_, at) => ({ grapheme: `word ${at}`, alias: "x" })))
    const text = "word x ".repeat(2_800)
    const cost = (lexicon: typeof many) => {
      const begun = process.threadCpuUsage()
      for (let round = 0; round < 5; round += 1) assert.strictEqual(wordsFound(text, lexicon).length, 0)
      return process.threadCpuUsage(begun).user
    }
    const one = matcherOf([{ grapheme: "word 1", alias: "x" }])
    cost(one)
    assert.isBelow(cost(many), 5 * cost(one) + 20_000)
  })
})

const spokenAs = (input: string, lexemes: ReadonlyArray<Lexeme>, locale = "en-US") => {
  const reading = Result.getOrThrow(readInput(input, { locale, textNormalization: true, lexemes }))
  assertLaws(input, reading)
  return {
    text: reading.chunks.flatMap(({ pieces }) => pieces.map(({ text }) => text)).join(""),
    words: reading.chunks.flatMap(({ tokens }) => tokens.map(({ value }) => value)),
    ipa: reading.chunks.flatMap(({ pieces }) =>
      pieces.flatMap(({ text, pronunciations = [] }) =>
        pronunciations.map(({ from, to, ipa }) => [text.slice(from, to), ipa])
      )
    )
  }
}

describe("a text with a lexicon", () => {
  it("says its words so, and marks them as they were sent", () => {
    const lexemes = [
      { grapheme: "SQL", alias: "sequel" },
      { grapheme: "Nguyen", alias: "win", ipa: "ŋwiən" },
      { grapheme: "New York", ipa: "nuː jɔɹk" }
    ]
    const input = `<speak>SQL, says Nguyen, of <emphasis>New York</emphasis> <sub alias="SQL">x</sub> at&#32;5 km.</speak>`
    assert.deepStrictEqual(spokenAs(input, lexemes), {
      text: "sequel, says win, of New York SQL at five kilometers.",
      words: ["SQL", "says", "Nguyen", "of", "New York", "x", "at", "5", "km."],
      ipa: [
        ["win", "ŋwiən"],
        ["New York", "nuː jɔɹk"]
      ]
    })
  })

  it("leaves words alone in other languages than its own", () => {
    const lexemes = [{ grapheme: "die", alias: "dee", language: "de-AT" }]
    assert.strictEqual(spokenAs("They die.", lexemes).text, "They die.")
    assert.strictEqual(spokenAs("Sie die.", lexemes, "de-DE").text, "Sie dee.")
  })

  it("keeps the laws of every reading", () => {
    const random = seeded(3)
    const parts = ["SQL", "New", "York", "(Nguyen)", "5", "😀", "東京", "\n\n", "x.", "C++"]
    for (let round = 0; round < 300; round += 1) {
      const input = Array.from({ length: 8 }, () => parts.at(Math.floor(random() * parts.length))).join(
        round % 3 === 0 ? "" : " "
      )
      const lexemes = words.map((grapheme, at) => ({
        grapheme,
        alias: at % 2 === 0 ? "two words" : "東京",
        ...(at % 3 === 0 ? { ipa: "ta" } : {})
      }))
      const reading = readInput(input, { locale: "en-US", textNormalization: round % 2 === 0, lexemes })
      if (Result.isSuccess(reading)) assertLaws(input, reading.success)
    }
  })
})
