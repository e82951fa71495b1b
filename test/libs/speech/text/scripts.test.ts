import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { readInput } from "../../../../libs/speech/read-input.ts"
import { scriptsBeyond } from "../../../../libs/speech/text/scripts.ts"
import { assertLaws, seeded, tokensOf } from "../laws.ts"

const locales: Readonly<Record<string, string>> = {
  "und-Cyrl": "ru-RU",
  "und-Grek": "el-GR",
  "und-Jpan": "ja-JP",
  "und-Hani": "zh-CN",
  "und-Arab": "ar-SA",
  "de-DE": "de-DE",
  "ru-RU": "ru-RU"
}
const others = new Map(Object.entries(locales).map(([language, locale]) => [language, { locale, isOwn: false }]))
others.set("en-US", { locale: "en-US", isOwn: true })

const read = (input: string, locale = "en-US", textNormalization = false) => {
  const reading = readInput(input, { locale, textNormalization, others })
  return Result.getOrThrowWith(reading, (faults) => new Error(JSON.stringify(faults)))
}
const spoken = (input: string, locale?: string) =>
  read(input, locale).chunks.map(({ language = "", pieces }) => [language, pieces.map(({ text }) => text).join("")])
const faults = (input: string) => {
  const reading = readInput(input, { locale: "en-US", textNormalization: false, others })
  return Result.isFailure(reading) ? reading.failure.map(({ message, offset }) => [message, offset]) : []
}

describe("the scripts beyond a voice", () => {
  it.each([
    ["Hello, Ångström! 5 €", "en-US", []],
    ["Привет", "en-US", ["und-Cyrl"]],
    ["Привет", "ru-RU", []],
    ["Привіт", "uk-UA", []],
    ["5 μm and π", "en-US", []],
    ["Αθήνα", "de-DE", ["und-Grek"]],
    ["東京", "ja-JP", []],
    ["東京へ", "zh-CN", ["und-Jpan"]],
    ["서울 东京 मुंबई กรุงเทพ שלום سلام", "en-GB", ["und-Hang", "und-Hani", "und-Arab", "und-Hebr", "und-Deva", "und-Thai"]]
  ])("of %s in %s are %j", (text, locale, expected) => {
    assert.deepStrictEqual(
      scriptsBeyond(text, locale).map(({ language }) => language),
      expected
    )
  })
})

describe("a text in several scripts", () => {
  it.each([
    [
      "Say Привет now.",
      [
        ["", "Say"],
        ["und-Cyrl", "Привет"],
        ["", "now."]
      ]
    ],
    ["Он сказал: «Да, 5 раз!» — и ушёл.", [["und-Cyrl", "Он сказал: «Да, 5 раз!» — и ушёл."]]],
    ["— Привет!", [["und-Cyrl", "— Привет!"]]],
    [
      "I love (Москва), truly.",
      [
        ["", "I love"],
        ["und-Cyrl", "(Москва),"],
        ["", "truly."]
      ]
    ],
    [
      "Tokyo is 東京 or とうきょう.",
      [
        ["", "Tokyo is"],
        ["und-Hani", "東京"],
        ["", "or"],
        ["und-Jpan", "とうきょう."]
      ]
    ],
    ["A Gothic 𐍈, ᏣᎳᎩ.", [["", "A Gothic 𐍈, ᏣᎳᎩ."]]],
    ["A π and a μ.", [["", "A π and a μ."]]],
    ["Αθήνα ο Θεός", [["und-Grek", "Αθήνα ο Θεός"]]],
    [
      "Один. Two. Три.",
      [
        ["und-Cyrl", "Один."],
        ["", "Two."],
        ["und-Cyrl", "Три."]
      ]
    ]
  ])("gives %j to the voices that read it", (input, expected) => {
    assert.deepStrictEqual(spoken(input), expected)
    assertLaws(input, read(input))
  })

  it("stays with a voice that reads it", () => {
    assert.deepStrictEqual(spoken("Привет, Bob.", "ru-RU"), [["", "Привет, Bob."]])
  })

  it("is refused where no voice reads it, with the place of each word", () => {
    assert.deepStrictEqual(faults("Hello 서울 and สวัสดี."), [
      ["no voice reads Hangul letters", 6],
      ["no voice reads Thai letters", 13]
    ])
  })

  it("continues in the sentence without a pause, and pauses at its end", () => {
    assert.deepStrictEqual(
      read("Say Привет now. Один. Two.").chunks.map(({ goesOn }) => goesOn ?? false),
      [true, true, false, false, false]
    )
  })

  it("keeps the laws of every reading, and loses no word", () => {
    const random = seeded(11)
    const words = ["one", "Привет,", "5", "—", "東京", "Αθήνα!", "(سلام)", "π", "a.b", "x\n\ny"]
    for (let round = 0; round < 500; round += 1) {
      const input = Array.from({ length: 1 + Math.floor(random() * 9) }, () =>
        words.at(Math.floor(random() * words.length))
      ).join(" ")
      const result = readInput(input, { locale: "en-US", textNormalization: round % 2 === 0, others })
      if (Result.isFailure(result)) continue
      assertLaws(input, result.success)
      const marked = tokensOf(result.success)
        .map(({ value }) => value)
        .join("")
        .replaceAll(/[^\p{L}\p{N}]/gu, "")
      assert.strictEqual(marked, input.replaceAll(/[^\p{L}\p{N}]/gu, ""))
    }
  })
})

describe("the element lang", () => {
  const marked = (input: string) => {
    const reading = read(`<speak>${input}</speak>`)
    assertLaws(`<speak>${input}</speak>`, reading)
    return reading.chunks.map(({ language = "", pieces }) => [language, pieces.map(({ text }) => text).join("")])
  }
  it.each([
    [
      `Say <lang xml:lang="de-DE">Guten Tag</lang>, Bob.`,
      [
        ["", "Say"],
        ["de-DE", "Guten Tag"],
        ["", ", Bob."]
      ]
    ],
    [`<lang xml:lang="en-US">Same <emphasis>voice</emphasis></lang> here`, [["", "Same voice here"]]],
    [
      `<lang xml:lang="de-DE">Ja <lang xml:lang="en-US">yes</lang> gut</lang>`,
      [
        ["de-DE", "Ja"],
        ["", "yes"],
        ["de-DE", "gut"]
      ]
    ],
    [
      `<lang xml:lang="de-DE">Sag Привет</lang>`,
      [
        ["de-DE", "Sag"],
        ["und-Cyrl", "Привет"]
      ]
    ],
    [`<lang xml:lang="ru-RU">Да, ok</lang>`, [["ru-RU", "Да, ok"]]],
    [`a <lang xml:lang="tlh" onlangfailure="ignorelang">b</lang> c`, [["", "a b c"]]],
    [`a <lang xml:lang="tlh" onlangfailure="ignoretext">b <sub alias="x">y</sub></lang> c`, [["", "a c"]]],
    [`<lang xml:lang="de-DE"><phoneme ph="ja">ja</phoneme></lang>`, [["de-DE", "ja"]]]
  ])("%s is spoken in its voices", (input, expected) => {
    assert.deepStrictEqual(
      marked(input).map(([language, text = ""]) => [language, text.replaceAll(/ +/gu, " ")]),
      expected
    )
  })

  it("is refused where no voice speaks it", () => {
    assert.deepStrictEqual(faults(`<speak>a <lang xml:lang="tlh">b</lang></speak>`), [[`no voice speaks "tlh"`, 9]])
    assert.deepStrictEqual(faults(`<speak>a <lang xml:lang="tlh" onlangfailure="shout">b</lang></speak>`), [
      [`onlangfailure "shout" is not known`, 9]
    ])
  })

  it("says numbers in its own language", () => {
    const texts = read(`<speak>5 km <lang xml:lang="de-DE">5 km</lang></speak>`, "en-US", true).chunks.map(
      ({ pieces }) => pieces[0]?.text
    )
    assert.deepStrictEqual(texts, ["five kilometers", "fünf Kilometer"])
  })
})
