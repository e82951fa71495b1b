import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readInput } from "../../../../libs/speech/text/index.ts"
import { computed } from "../../../support/processor-time.ts"
import { assertCovered, assertLaws, read, seeded, tokensOf, wordsOf } from "./laws.ts"

const fragments = [
  ..." .,;:!?-—…'\"()[]«»“”\n\t\r\u00a0\u0000\u200b&%$#@/\\|<>=+*~^",
  ..."aZ0é9ß",
  "word ",
  "Dr. ",
  "e.g. ",
  "J. ",
  "U.S. ",
  "3.14 ",
  "1. ",
  "http://a.com/x?Y=1 ",
  "a@b.org",
  "Hello! ",
  "你好",
  "。",
  "北京大学",
  "สวัสดีครับ",
  "こんにちは、",
  "한국어 ",
  "مرحبا ",
  "हिन्दी। ",
  "😀",
  "👩‍👩‍👧",
  "e\u0301",
  "\ud83d",
  "\udc00",
  "\r\n\r\n",
  "x".repeat(90),
  "long enough, ".repeat(12),
  "$5.50 ",
  "5 km ",
  "10:30 ",
  "2024-03-05 "
] as const

const Text = Schema.Array(Schema.Literals(fragments))

describe("reading plain text", () => {
  it.prop(
    "marks every word once, in order, as it was sent",
    [Text],
    ([parts]) => {
      const input = parts.join("")
      if (input.trim() === "" || input.trimStart().startsWith("<speak")) return
      const result = readInput(input, { textNormalization: false, locale: "en-US" })
      if (result._tag === "Failure") return assert.notMatch(input, /[\p{L}\p{N}]/u)
      assertLaws(input, result.success)
      assertCovered(input, result.success)
    },
    { arbitrary: { runs: 300 } }
  )

  it.prop(
    "marks every word once also where it is normalised",
    [Text],
    ([parts]) => {
      const input = parts.join("")
      const result = readInput(input, { textNormalization: true, locale: "en-GB" })
      if (result._tag === "Success") assertLaws(input, result.success)
    },
    { arbitrary: { runs: 300 } }
  )

  it("holds for long random texts too", () => {
    const random = seeded(7)
    for (let round = 0; round < 60; round += 1) {
      const input = Array.from({ length: 600 }, () => fragments[Math.floor(random() * fragments.length)]).join("")
      const reading = read(input, { locale: ["en", "zh-CN", "de-DE", "th"][round % 4] ?? "en" })
      assertLaws(input, reading)
      assertCovered(input, reading)
      assertLaws(input, read(input, { textNormalization: true }))
    }
  })

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

  it("parts Chinese, Japanese and Thai by dictionary", () => {
    assert.deepStrictEqual(wordsOf(read("你好，世界。", { locale: "zh-CN" })), ["你好，", "世界。"])
    assert.deepStrictEqual(wordsOf(read("「東京」へ行く", { locale: "ja-JP" })), ["「東京」", "へ", "行く"])
    assert.deepStrictEqual(wordsOf(read("สวัสดีครับ", { locale: "th-TH" })), ["สวัสดี", "ครับ"])
  })

  it("marks punctuation only where there is nothing else", () => {
    assert.deepStrictEqual(wordsOf(read("Well - yes")), ["Well", "yes"])
    assert.deepStrictEqual(wordsOf(read("... --")), ["...", "--"])
  })

  it("takes what nobody can hear out of the text, but not out of the offsets", () => {
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

  it("parts an endless word without breaking a character", () => {
    const input = "😀x".repeat(500)
    const reading = read(input)
    assertLaws(input, reading)
    assertCovered(input, reading)
  })

  it.each(["", " \n\t ", "<speak></speak>", "<speak> <mark name='a'/> </speak>"])(
    "refuses %o: it says nothing",
    (input) => {
      assert.strictEqual(readInput(input, { textNormalization: false, locale: "en" })._tag, "Failure")
    }
  )

  it.each(["", "not a locale", "en-a", "xx-YY", "💥"])("reads all the same with the locale %o", (locale) => {
    assert.deepStrictEqual(wordsOf(read("One. 你好", { locale, textNormalization: true })).slice(0, 1), ["One."])
  })
})

describe("the longest input", () => {
  const lengthMax = 20_000
  const fill = (part: string) => part.repeat(Math.ceil(lengthMax / part.length)).slice(0, lengthMax)

  // The best of a few, and of this thread alone, so that a busy machine does not fail it.
  const bestMilliseconds = (input: string, textNormalization: boolean) => {
    let best = Infinity
    for (let round = 0; round < 5 && best >= 100; round += 1) {
      const { processorMs } = computed(() => readInput(input, { textNormalization, locale: "en-US" }))
      best = Math.min(best, processorMs)
    }
    return best
  }

  it.each([
    "The quick brown fox jumps over the lazy dog, again and again. ",
    "Dr. J. R. Smith paid $5.50 on 3/5/2024 at 5:30 pm (see www.example.com). ",
    "a. ",
    ". ",
    "? ",
    "(",
    "\"' ",
    "1.",
    "1,",
    "$",
    "x",
    "\n",
    "-",
    "J. ",
    "a@",
    "http://",
    "&",
    "1/",
    ".5",
    "😀",
    "e\u0301",
    "我们在北京大学学习人工智能。",
    "สวัสดีครับ",
    "東京",
    "\ud83d",
    "A.",
    "www.",
    "[[",
    ",."
  ])("takes less than 100 ms, even where it is made of %o", (part) => {
    assert.isBelow(bestMilliseconds(fill(part), false), 100)
    assert.isBelow(bestMilliseconds(fill(part), true), 100)
  })

  it.each([
    "<s>a b.</s>",
    "<mark name='a'/>",
    "<break time='1ms'/>a ",
    "&amp;",
    "&#65; ",
    "<!-- x -->",
    "<p><s>x</s></p>",
    "<sub alias='b'>a</sub>",
    "<prosody rate='slow'>a",
    "<a>",
    "</a>",
    "<![CDATA[x]]>",
    "&",
    "<",
    "&x;",
    "<a b='",
    "]]>"
  ])("takes less than 100 ms as SSML made of %o", (part) => {
    const input = `<speak>${fill(part).slice(0, lengthMax - 15)}</speak>`
    assert.isBelow(bestMilliseconds(input, false), 100)
    assert.isBelow(bestMilliseconds(input, true), 100)
  })
})
