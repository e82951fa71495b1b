import { assert, describe, it } from "@effect/vitest"
import {
  phraseDictionary,
  phraseGrammar,
  wordsHeard,
  wordsMissing
} from "../../../../libs/voice-cloning/consent/PhraseCheck.ts"
import { phraseWordList } from "../../../../libs/voice-cloning/consent/phrase.ts"

describe("the grammar of the recogniser", () => {
  it("allows all words of the list after the agreement, after its opposites, and at the start", () => {
    const grammar = phraseGrammar()
    for (const word of phraseWordList) assert.match(grammar, new RegExp(`[=|] ${word} [|;]|\\| ${word};`, "u"))
    assert.include(grammar, "= i agree to have my voice cloned my words are |")
    assert.include(grammar, "| i do not agree to have my voice cloned my words are |")
    assert.include(grammar, "[<opening>] <word> <word> <word> <word> <word>;")
  })

  it.each([
    ["i agree to have my voice cloned my words are banana rocket", ["banana", "rocket"]],
    ["i agree to have my voice cloned my words are", []],
    ["i do not agree to have my voice cloned my words are banana rocket", []],
    ["my words are banana rocket", []],
    ["banana rocket", []],
    ["", []]
  ] as const)("hears in %j the words %j", (heard, words) => {
    assert.deepStrictEqual([...wordsHeard(heard)], [...words])
  })

  it("needs few lines of a dictionary, with every pronunciation", () => {
    const cut = phraseDictionary("a AH\nare AA R\nare(2) ER\nareas EH R IY AH Z\nbanana B AH N AE N AH\n")
    assert.strictEqual(cut, "are AA R\nare(2) ER\nbanana B AH N AE N AH\n")
  })

  it("names the words that a dictionary lacks", () => {
    const missing = wordsMissing("are AA R\nbanana B AH N AE N AH\n")
    assert.include(missing, "rocket")
    assert.notInclude(missing, "banana")
  })
})
