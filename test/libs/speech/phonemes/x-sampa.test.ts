import { assert, describe, it } from "@effect/vitest"
import { readXSampa } from "../../../../libs/speech/phonemes/ipa.ts"

describe("phonemes in X-SAMPA", () => {
  it.each([
    ['t@"meItoU', "təˈmeɪtoʊ"],
    ['"k{t', "ˈkæt"],
    ['"tS3:tS', "ˈtʃɜːtʃ"],
    ['"DIs %TIN', "ˈðɪs ˌθɪŋ"],
    ["bO~Zur", "bɔ̃ʒur"],
    ["R2:", "ʁøː"],
    ["g9t", "ɡœt"],
    ["s`a.z\\i", "ʂa.ʑi"],
    ["r\\Ed", "ɹɛd"],
    ["b@`", "bɚ"],
    ["w3`d", "wɝd"],
    ["t_hO", "tʰɔ"],
    ["d_jE", "dʲɛ"],
    ["d'E", "dʲɛ"],
    ["bVtn=", "bʌtn̩"],
    ["a_T_B", "a"],
    ["t-\\a", "t.a"],
    ["B\\6", "ʙɐ"],
    ["ka#", undefined],
    [":a", undefined],
    ["", undefined]
  ])("%s are %s", (written, ipa) => {
    const read = readXSampa(written)
    assert.strictEqual("ipa" in read ? read.ipa : undefined, ipa)
  })

  it("tell where a symbol is none", () => {
    assert.deepStrictEqual(readXSampa("ka#"), { fault: `"#" is no symbol of X-SAMPA`, at: 2 })
  })
})
