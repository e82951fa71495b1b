import { assert, describe, it } from "@effect/vitest"
import { errorsBetween, phonemesIn, startsHeard, wordsIn } from "#dev/hearing"

const wrong = (said: string, heard: string, language = "en") =>
  errorsBetween(wordsIn(said, language), wordsIn(heard, language))

describe("words heard wrongly", () => {
  it("are those that were lost, added or heard as others", () => {
    assert.strictEqual(wrong("the boats came home", "the boats came home"), 0)
    assert.strictEqual(wrong("the boats came home", "the boats home"), 1)
    assert.strictEqual(wrong("the boats came home", "all the boats came home"), 1)
    assert.strictEqual(wrong("the boats came home", "the goats came foam"), 2)
    assert.strictEqual(wrong("", "no"), 1)
    assert.strictEqual(wrong("not a word", ""), 3)
  })

  it("do not depend on case, punctuation, hyphens or spelling", () => {
    assert.strictEqual(wrong("Mr. Hill's grey harbour – realised!", "mister Hill’s gray harbor realized"), 0)
    assert.strictEqual(wrong("a well-known co-operation", "A well known cooperation."), 0)
    assert.strictEqual(wrong("L'été à la plage", "l’été, à la plage", "fr"), 0)
    assert.strictEqual(wrong("Die Straße", "die Strasse", "de"), 0)
  })

  it("do not depend on how numbers are written", () => {
    assert.strictEqual(wrong("a hundred thousand flats for forty two pounds", "100,000 flats for £42"), 0)
    assert.strictEqual(wrong("in nineteen sixty nine, seven percent", "In 1969, 7%."), 0)
    assert.strictEqual(wrong("falten Sie ihn viermal, dreihundert Meter", "falten Sie ihn 4 mal, 300 Meter", "de"), 0)
    assert.strictEqual(wrong("más de trescientas cartas", "Más de 300 cartas.", "es"), 0)
    assert.strictEqual(wrong("trois cents mètres, deux fois", "300 mètres, 2 fois", "fr"), 0)
    assert.strictEqual(wrong("circa dodici minuti", "circa 12 minuti", "it"), 0)
    assert.strictEqual(wrong("mais de trezentas cartas", "mais de 300 cartas", "pt"), 0)
  })

  it("are none where one word was heard as two, or two as one", () => {
    assert.strictEqual(wrong("das Hafenfest beginnt", "das Hafen Fest beginnt", "de"), 0)
    assert.strictEqual(wrong("any one of us", "anyone of us"), 0)
    assert.strictEqual(wrong("any one of us", "anyone off us"), 1)
  })
})

describe("phonemes", () => {
  it("are single sounds, in one notation", () => {
    assert.deepStrictEqual(phonemesIn("t͡ʃɔ ɪː d̪ ɡ"), ["t", "ʃ", "ɔ", "ɪ", "d", "g"])
  })

  it("tell when a word begins whose first sound was heard as expected", () => {
    const expected = [
      ["the", "ði"],
      ["boats", "boʊts"],
      ["came", "keɪm"]
    ] as const
    const heard = [
      ["ð", 100],
      ["i", 140],
      ["g", 200],
      ["oʊ", 240],
      ["t", 300],
      ["k", 420],
      ["eɪ", 460]
    ] as const
    assert.deepStrictEqual(startsHeard(expected, heard), [100, undefined, 420])
    assert.deepStrictEqual(startsHeard(expected, []), [undefined, undefined, undefined])
  })
})
