import { assert, describe, it } from "@effect/vitest"
import { ipaSymbols } from "../../../../libs/speech/phonemes/ipa.ts"
import { visemesOf } from "../../../../libs/speech/phonemes/visemes.ts"

describe("the visemes of a phoneme", () => {
  it.each([
    ["p", [21]],
    ["f", [18]],
    ["θ", [17]],
    ["iː", [6]],
    ["tʃ", [16]],
    ["aɪ", [11]],
    ["eɪ", [4]],
    ["oʊ", [8]],
    ["ɔ\u0303", [3]],
    ["ç", [6]],
    ["ɑːɹ", [2, 13]],
    ["ǃ", [0]],
    ["", [0]]
  ])("%s are %j", (phoneme, visemes) => assert.deepStrictEqual(visemesOf(phoneme), visemes))

  it("are known of every sound but clicks and implosives", () => {
    const unknown = ipaSymbols.filter((symbol) => /\p{L}/u.test(symbol) && visemesOf(symbol).includes(0))
    assert.strictEqual(unknown.join(""), "ʘǀǃǂǁɓɗʄɠʛʲʰʷː")
  })
})
