import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { makePhrase, newPhrase, phraseWordList, phraseWordsMatched } from "#voice-cloning"
import {
  phraseDictionary,
  phraseGrammar,
  wordsHeard,
  wordsMissing
} from "../../../../libs/voice-cloning/consent/PhraseCheck.ts"

const taking = (values: ReadonlyArray<number>) => {
  const next = values.values()
  return (bound: number) => (next.next().value ?? 0) % bound
}

describe("a phrase", () => {
  it.prop(
    "agrees, then names five different words of the list, in order and once each",
    { values: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))) },
    ({ values }) => {
      const { phrase, words } = makePhrase(taking(values))
      assert.strictEqual(new Set(words).size, 5)
      assert.isTrue(words.every((word) => phraseWordList.includes(word)))
      assert.strictEqual(phrase, `I agree to have my voice cloned. My words are: ${words.join(", ")}.`)
    }
  )

  it("can have any word of the list in any place", () => {
    for (let place = 0; place < 5; place++) {
      const found = phraseWordList.map((_, at) => makePhrase(taking([0, 0, 0, 0, 0].with(place, at))).words[place])
      assert.isAtLeast(new Set(found).size, phraseWordList.length - place)
    }
  })

  it.effect("is a new one every time", () =>
    Effect.gen(function* () {
      const phrases = yield* Effect.replicateEffect(newPhrase, 50)
      assert.strictEqual(new Set(phrases.map(({ phrase }) => phrase)).size, 50)
    })
  )

  it("is made of fifty words that differ from their first sounds on", () => {
    assert.strictEqual(new Set(phraseWordList).size, 50)
    assert.strictEqual(new Set(phraseWordList.map((word) => word.slice(0, 4))).size, 50)
    assert.isTrue(phraseWordList.every((word) => /^[a-z]{5,10}$/u.test(word)))
  })
})

describe("the heard part of a phrase", () => {
  it.each([
    ["a b c d e", "a b c d e", 5],
    ["a b c d e", "a x c d e", 4],
    ["a b c d e", "b c d e", 4],
    ["a b c d e", "x a b c d e y", 5],
    ["a b c d e", "e d c b a", 1],
    ["a b c d e", "b a d c e", 3],
    ["a b c d e", "a a a a a", 1],
    ["a b c d e", "", 0],
    ["", "a", 0]
  ] as const)("%s heard as %s is %d", (asked, heard, matched) => {
    const split = (text: string) => text.split(" ").filter((word) => word !== "")
    assert.strictEqual(phraseWordsMatched(split(asked), split(heard)), matched)
  })
})

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
  ] as const)("%s", (heard, words) => {
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
