import { assert, describe, it } from "@effect/vitest"
import { flitePhones, ipaOfPhone, withPhones } from "../../../../../libs/speech/engine/flite/phones.ts"

describe("phonemes for flite", () => {
  it.each([
    ["təˈmeɪtoʊ", "t ax0 m ey1 t ow0"],
    ["tʃɜːtʃ", "ch er1 ch"],
    ["ˌnuː ˈjɔɹk", "n uw1 y ao1 r k"],
    ["ˈʃtʁaːsə", "sh t r aa1 s ax0"],
    ["ˈryː", "r uw1"],
    ["ʘ", "p"]
  ])("%s are %s", (ipa, phones) => {
    assert.strictEqual(flitePhones(ipa), phones)
  })

  it("are told in IPA", () => {
    const phones = "t ax m ey t ow ch er ao pau".split(" ")
    assert.deepStrictEqual(phones.map(ipaOfPhone), ["t", "ə", "m", "eɪ", "t", "oʊ", "tʃ", "ɝ", "ɔ", ""])
  })

  it("take the place of their words, and move nothing", () => {
    const text = "I say (New York), no no."
    const pronunciations = [
      { from: 7, to: 15, ipa: "ta" },
      { from: 18, to: 20, ipa: "noʊ" },
      { from: 21, to: 23, ipa: "noʊ" },
      { from: 22, to: 99, ipa: "ta" }
    ]
    assert.deepStrictEqual(withPhones(text, pronunciations), {
      ascii: "I say (       q),  q  q.",
      tokens: [
        { at: 14, phones: "t aa1" },
        { at: 19, phones: " n ow1" },
        { at: 22, phones: "n ow1" }
      ]
    })
  })
})
