import { assert, describe, it } from "@effect/vitest"
import { divided, inAlphabet, phonemesOf, soundsOf } from "../../../../../libs/speech/engine/onnx/phonemes.ts"
import { vocabulary } from "../../../../../libs/speech/engine/onnx/vocabulary.ts"
import { utterancesOf } from "../../../../../libs/speech/engine/onnx/speaker.ts"

/** Speaks letter by letter, but draws "of the" together and reads a number as two words. */
const spelled = (clause: string) =>
  clause
    .toLowerCase()
    .replace("of the", "ofthe")
    .replaceAll("42", "forty tu")
    .replaceAll(/[^a-z ]/gu, "")

const read = (text: string) => {
  const { symbols, words } = phonemesOf({ text }, "es", spelled)
  return {
    symbols,
    words: words.map(({ position, symbol }, at) => [position, symbols.slice(symbol, words[at + 1]?.symbol)])
  }
}

describe("the phonemes of a text", () => {
  it("keep the marks that a model hears, and say where each word begins", () => {
    assert.deepStrictEqual(read("Well, (so) be it!"), {
      symbols: "well, (so) be it!",
      words: [
        [0, "well, ("],
        [7, "so) "],
        [11, "be "],
        [14, "it!"]
      ]
    })
  })
  it("give words that are drawn together, and numbers, their own parts", () => {
    assert.deepStrictEqual(read("one of the 42 men").words, [
      [0, "one "],
      [4, "of "],
      [7, "the "],
      [11, "forty tu "],
      [14, "men"]
    ])
  })
  it.each(["", "  ", "... !?", "—"])("of %j have no words", (text) => {
    assert.deepStrictEqual(read(text).words, [])
  })
  it.each([
    ["one (of the) men.", "of the", "ˈtʃaɪr", ["one ", "(ʧˈIr) ", "men."]],
    ["men", "men", "mən mɛn", ["mən mˈɛn"]],
    ["the men's 42", "men", "mɛn", ["the ", "mˈɛns ", "forty tu"]]
  ] as const)("of %j have a word's own pronunciation in its place", (text, word, ipa, expected) => {
    const from = text.indexOf(word)
    const pronunciations = [{ from, to: from + word.length, ipa }]
    const { symbols, words } = phonemesOf({ text, pronunciations }, "es", spelled)
    const starts = words.map(({ symbol }) => symbol)
    const parts = starts.map((start, at) => symbols.slice(at === 0 ? 0 : start, starts[at + 1]))
    assert.strictEqual(parts.join(""), expected.join(""))
    assert.isTrue(words.some(({ position }) => position === from))
  })
  it("are divided among words without loss", () => {
    for (const [together, alone] of [
      ["ɪnðə", ["ɪn", "ðə"]],
      ["fˈɔɹtituː", ["fˈɔɹtituː"]],
      ["", ["a", "b"]],
      ["abc", []]
    ] as const) {
      const parts = divided(together, alone)
      assert.strictEqual(parts.length, alone.length)
      if (alone.length > 0) assert.strictEqual(parts.join(""), together)
    }
  })
  it.each([
    ["en-us", "h ə l o^ʊ", "h ə l O"],
    ["en-us", "d^ʒ a^ɪ t^ʃ e^ɪ", "ʤ I ʧ A"],
    ["en-us", "wˈɔːɾɚ", "wˈɔTəɹ"],
    ["en", "ðe^ə ɡə^ʊ", "ðɛː ɡQ"],
    ["fr-fr", "bɔ̃ʒˈuʁ", "bɔ̃ʒˈuʁ"],
    ["en-us", "(fr)ʃik(en)", "ʃik"]
  ])("of espeak-ng in %s, %j, are Kokoro's %j", (language, from, to) => {
    assert.strictEqual(inAlphabet(from, language), to)
  })
  it("are cut behind a mark where a model could not read them all", () => {
    const symbols = `${"abc def ".repeat(30)}ghi, ${"jkl mno ".repeat(40)}`
    const words = [...symbols.matchAll(/\S+/gu)].map(({ index }) => ({ position: index, symbol: index }))

    const parts = utterancesOf({ symbols, words })

    assert.strictEqual(parts.map((part) => part.symbols).join(""), symbols)
    assert.isTrue(parts.every((part) => part.symbols.length <= 400))
    assert.isTrue(parts[0]?.symbols.endsWith("ghi, "))
    for (const part of parts) {
      for (const { position, symbol } of part.words) assert.strictEqual(part.symbols[symbol], symbols[position])
    }
  })
})

describe("the vocabulary of Kokoro", () => {
  it("has its numbers, by what its own list says", () => {
    const known = [";", " ", "A", "a", "z", "ə", "ɹ", "ˈ", "ː", "→", "ᵻ", "\u0303"]
    assert.deepStrictEqual(
      known.map((symbol) => vocabulary.get(symbol)),
      [1, 16, 24, 43, 68, 83, 123, 156, 158, 171, 177, 17]
    )
    assert.strictEqual(vocabulary.size, 114)
  })
})

describe("the sounds of an utterance", () => {
  it("are IPA, begin with their stress, and pause at marks", () => {
    const words = [
      { position: 0, symbol: 0 },
      { position: 4, symbol: 6 }
    ]
    const sounds = soundsOf({ symbols: "ʧˈIr, ʤˌɑːnz.", words })
    assert.deepStrictEqual(
      sounds.map(({ ipa, position, symbol }) => [ipa, position, symbol]),
      [
        ["tʃ", 0, 0],
        ["aɪ", 0, 1],
        ["r", 0, 3],
        ["", 0, 4],
        ["dʒ", 4, 6],
        ["ɑː", 4, 7],
        ["n", 4, 10],
        ["z", 4, 11],
        ["", 4, 12]
      ]
    )
  })
})
