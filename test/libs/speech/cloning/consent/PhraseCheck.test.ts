import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  makePhrase,
  newPhrase,
  phraseDictionary,
  phraseGrammar,
  phraseWordList,
  wordsOf,
  wordsMissing
} from "../../../../../libs/speech/cloning/consent/PhraseCheck.ts"

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

  it("can have any word of the list at any of its five positions", () => {
    for (let nth = 0; nth < 5; nth++) {
      const found = phraseWordList.map((_, at) => makePhrase(taking([0, 0, 0, 0, 0].with(nth, at))).words[nth])
      assert.isAtLeast(new Set(found).size, phraseWordList.length - nth)
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
    assert.deepStrictEqual([...wordsOf(heard)], [...words])
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
