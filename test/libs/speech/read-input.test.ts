import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { emptyInput, readInput } from "../../../libs/speech/read-input.ts"
import { assertCovered, assertLaws, read, tokensOf, wordsOf } from "./laws.ts"

describe("plain text", () => {
  it("keeps words between spaces whole", () => {
    const input = "It's 3.14, (a Thursday) in the U.S.A. - state-of-the-art!"
    assert.deepStrictEqual(wordsOf(read(input)), [
      "It's",
      "3.14,",
      "(a",
      "Thursday)",
      "in",
      "the",
      "U.S.A.",
      "state-of-the-art!"
    ])
  })

  it("splits Chinese, Japanese and Thai by dictionary", () => {
    assert.deepStrictEqual(wordsOf(read("你好，世界。", { locale: "zh-CN" })), ["你好，", "世界。"])
    assert.deepStrictEqual(wordsOf(read("「東京」へ行く", { locale: "ja-JP" })), ["「東京」", "へ", "行く"])
    assert.deepStrictEqual(wordsOf(read("สวัสดีครับ", { locale: "th-TH" })), ["สวัสดี", "ครับ"])
  })

  it("has no marks for punctuation", () => {
    assert.deepStrictEqual(wordsOf(read("Well - yes")), ["Well", "yes"])
    assert.deepStrictEqual(wordsOf(read("<speak>... <break time='1s'/> --</speak>")), [])
  })

  it.each([
    "",
    " ",
    "\n\t",
    "\u200b",
    "\u200b\ufeff",
    "\u0000",
    "<speak/>",
    "<speak> </speak>",
    "<speak><p><s> </s></p></speak>",
    "<speak><!-- a --></speak>",
    '<speak><mark name="a"/></speak>',
    '<speak><break time="0s"/></speak>'
  ])("is refused where nothing is written, as in %j", (input) => {
    for (const textNormalization of [true, false]) {
      const result = readInput(input, { locale: "en-US", textNormalization })
      assert.deepStrictEqual(result, Result.fail([{ message: emptyInput, offset: 0 }]))
    }
  })

  it.each([
    "...",
    "?!",
    "—",
    "“”",
    "()",
    "¡¿",
    "。、",
    "•",
    "- - -",
    "<speak>...</speak>",
    '<speak><sub alias="...">a</sub></speak>'
  ])("has no chunks where nobody says what is written, as in %j", (input) => {
    for (const textNormalization of [true, false]) {
      const reading = Result.getOrThrow(readInput(input, { locale: "en-US", textNormalization }))
      assert.deepStrictEqual(reading.chunks, [])
    }
  })

  it("has no chunks where a lexicon leaves nothing of it", () => {
    const lexemes = [{ grapheme: "erased", alias: "..." }]
    const read = readInput("Erased, erased.", { locale: "en-US", textNormalization: false, lexemes })
    assert.deepStrictEqual(Result.getOrThrow(read).chunks, [])
  })

  it("drops inaudible characters from the text, but not from the offsets", () => {
    const reading = read("a\u0000b \ud83d c")
    assert.deepStrictEqual(
      tokensOf(reading).map(({ end, start }) => [start, end]),
      [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7]
      ]
    )
    assert.strictEqual(reading.chunks[0]?.pieces[0]?.text, "a b \ufffd c")
  })

  it("splits an endless word without breaking a character", () => {
    const input = "😀x".repeat(500)
    const reading = read(input)
    assertLaws(input, reading)
    assertCovered(input, reading)
  })

  it.each(["", " \n\t ", "<speak></speak>", "<speak> <mark name='a'/> </speak>"])(
    "is refused when it has no words: %o",
    (input) => {
      assert.strictEqual(readInput(input, { textNormalization: false, locale: "en" })._tag, "Failure")
    }
  )

  it.each(["", "not a locale", "en-a", "xx-YY", "💥"])("is read with the locale %o, too", (locale) => {
    assert.deepStrictEqual(wordsOf(read("One. 你好", { locale, textNormalization: true })).slice(0, 1), ["One."])
  })
})
