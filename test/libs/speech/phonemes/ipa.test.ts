import { assert, describe, it } from "@effect/vitest"
import { ipaSymbols, namedSounds, readIpa } from "../../../../libs/speech/phonemes/ipa.ts"
import { seeded } from "../laws.ts"

describe("phonemes in IPA", () => {
  it.each([
    ["təˈmeɪtoʊ", "təˈmeɪtoʊ"],
    ["  tə.ˈmeɪ.toʊ ", "tə.ˈmeɪ.toʊ"],
    ["t͡ʃɪp", "tʃɪp"],
    ["ʧɪp", "tʃɪp"],
    ["ˈgøːtə", "ˈɡøːtə"],
    ["bɔ̃ʒuʁ", "bɔ̃ʒuʁ"],
    ["ko\u00f5", "koo\u0303"],
    ["iç", "iç"],
    ["ic\u0327", "iç"],
    ["pʰɪˀ", "pʰɪ"],
    ["n̪ɔ˥˩", "nɔ"],
    ["wɜ˞d", "wɝd"],
    ["a:", "aː"],
    ["njuː  jɔːk", "njuː jɔːk"],
    ["a | b ‖ c", "a b c"],
    ["a‿b", "a.b"],
    ["'kæt", "ˈkæt"]
  ])("%s are %s", (written, ipa) => {
    assert.deepStrictEqual(readIpa(written), { ipa })
  })

  it.each([
    ["", "no sound", 0],
    [" ˈ. ", "no sound", 0],
    ["kæ1t", `"1"`, 2],
    ["kæt!", `"!"`, 3],
    ["😀a", `"😀"`, 0],
    ["a😀", `"😀"`, 1],
    ["Kæt", `"K"`, 0],
    ["ːa", `"ː"`, 0],
    ["a ʲb", `"ʲ"`, 2],
    ["[[a]]", `"["`, 0],
    ["я", `"я"`, 0]
  ])("%j are refused", (written, fault, at) => {
    const read = readIpa(written)
    assert.isTrue("fault" in read)
    if ("fault" in read) {
      assert.include(read.fault, fault)
      assert.strictEqual(read.at, at)
    }
  })

  it("have one canonical form, which reads as itself", () => {
    const random = seeded(7)
    const symbols = [...ipaSymbols, "ˈ", "ˌ", ".", " ", "|", "͡", "˥", "g", ":"]
    for (let round = 0; round < 2_000; round += 1) {
      const written = Array.from({ length: 1 + Math.floor(random() * 12) }, () =>
        symbols.at(Math.floor(random() * symbols.length))
      ).join("")
      const read = readIpa(written)
      if ("fault" in read) continue
      assert.deepStrictEqual(readIpa(read.ipa), read, written)
    }
  })
})

describe("phonemes by an engine's names", () => {
  const names = new Map([
    ["t", "t"],
    ["m", "m"],
    ["ə", "@"],
    ["e", "e"],
    ["eɪ", "eI"],
    ["ɪ", "I"],
    ["oʊ", "oU"],
    ["o", "o"],
    ["ʃ", "S"],
    ["tʃ", "tS"],
    ["n", "n"],
    ["n̩", "n-"],
    ["j", "j"],
    ["uː", "u:"],
    ["ː", ":"],
    ["r", "R"]
  ])
  const named = (ipa: string) =>
    namedSounds(ipa, names)
      .map((word) => word.map(({ name, stress }) => stress + name).join("|"))
      .join(" ")

  it.each([
    ["təˈmeɪtoʊ", "t|@|m|ˈeI|t|oU"],
    ["tə.ˈme.ɪto.ʊ", "t|@|m|ˈe|I|t|o|u:"],
    ["tʃen", "tS|ˈe|n"],
    ["t.ʃen", "t|S|ˈe|n"],
    ["ˌtemˈton", "t|ˌe|m|t|ˈo|n"],
    ["tn̩", "t|n-"],
    ["ˈtn̩", "t|ˈn-"],
    ["men eməˈt", "m|ˈe|n ˈe|m|@|t"],
    ["mətə", "m|@|t|@"],
    ["meː", "m|ˈe|:"],
    ["tʲe", "t|ˈe"],
    ["ɲo", "n|j|ˈo"],
    ["ʀy", "R|ˈu:"],
    ["tʰeθ", "t|ˈe"]
  ])("%s are %s", (ipa, expected) => {
    assert.strictEqual(named(ipa), expected)
  })
})
