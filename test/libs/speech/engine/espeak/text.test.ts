import { assert, describe, it } from "@effect/vitest"
import { espeakPhonemes, espeakText } from "../../../../../libs/speech/engine/espeak/speaker.ts"

const names = new Map([..."kætən"].map((symbol) => [symbol, symbol === "æ" ? "a" : symbol === "ə" ? "@" : symbol]))

describe("a text for espeak-ng", () => {
  it.each([
    ["ˈkæt", "[[k|'a|t]]"],
    ["kæt ˌkæt", "[[k|'a|t k|,a|t]]"],
    ["ə", "[[@]]"],
    ["ʘ", ""]
  ])("has %s as %s", (ipa, expected) => {
    assert.strictEqual(espeakPhonemes(ipa, names), expected)
  })

  it.each([
    ["A cat.", [[2, 5]], "A [[cat]].", [0, 1, 2, 2, 2, 2, 2, 2, 2, 5, 6]],
    ["(cat)", [[1, 4]], "( [[cat]])", [0, 1, 1, 1, 1, 1, 1, 1, 1, 4, 5]],
    ["😀 cat", [[3, 6]], "😀 [[cat]]", [0, 2, 3, 3, 3, 3, 3, 3, 3, 6]],
    ["[[[a]] b", [[7, 8]], "[  a]] [[b]]", [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 7, 7, 8]],
    ["a\u0001 b", [[3, 4]], "a  [[b]]", [0, 1, 2, 3, 3, 3, 3, 3, 4]],
    ["no", [[1, 9]], "no", [0, 1, 2]]
  ] as const)("of %j is sent with each character's place", (text, spans, sent, starts) => {
    const pronunciations = spans.map(([from, to]) => ({ from, to, ipa: text.slice(from, to) }))
    const made = espeakText({ text, pronunciations }, (ipa) => `[[${ipa}]]`)
    assert.strictEqual(made.sent, sent)
    assert.deepStrictEqual([...made.starts], [...starts])
    assert.isTrue(made.hasPhonemes)
  })

  it("is sent as it is where no word has a pronunciation", () => {
    const made = espeakText({ text: "[[a]]" }, () => "x")
    assert.strictEqual(made.sent, "[[a]]")
    assert.isFalse(made.hasPhonemes)
  })
})
