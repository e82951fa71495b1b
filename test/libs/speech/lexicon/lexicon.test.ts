import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { lexiconLimits } from "../../../../libs/speech/lexicon/lexeme.ts"
import { readLexicon } from "../../../../libs/speech/lexicon/lexicon.ts"

const read = (text: string) => Result.getOrThrowWith(readLexicon(text), (faults) => new Error(faults.join("\n")))
const faultsOf = (text: string) => {
  const lexicon = readLexicon(text)
  return Result.isFailure(lexicon) ? lexicon.failure : []
}
const pls = (inside: string, attributes = `alphabet="ipa" xml:lang="en-US"`) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" ${attributes}>${inside}</lexicon>`

describe("a plain list", () => {
  it("has a line for each word, and the first of two for one word counts", () => {
    const text =
      "\ufeff# ours\r\n\r\nSQL = sequel\nNguyen /ˈŋwiən/\n  New   York =  the big  apple \nSQL = S Q L\na=b = c\nC++ = see plus plus"
    assert.deepStrictEqual(read(text), {
      format: "list",
      lexemes: [
        { grapheme: "SQL", alias: "sequel" },
        { grapheme: "Nguyen", ipa: "ˈŋwiən" },
        { grapheme: "New York", alias: "the big apple" },
        { grapheme: "a", alias: "b = c" },
        { grapheme: "C++", alias: "see plus plus" }
      ]
    })
  })

  it.each([
    ["", "it has no words"],
    ["# nothing", "it has no words"],
    ["SQL", "line 1: neither `word = alias` nor `word /ipa/`"],
    ["a = b\n= c", "line 2: there is no word"],
    ["a =", "line 1: a has nothing to be spoken as"],
    ["a /x7/", `line 1: the phonemes of a cannot be read: "7" is no phoneme of the IPA here (character 1)`],
    ["a //", "line 1: the phonemes of a cannot be read: it has no sound (character 0)"],
    [`${"a".repeat(101)} = b`, "line 1: the word is longer than 100 characters"],
    [`a = ${"b".repeat(401)}`, "line 1: the alias of a is longer than 400 characters"],
    ["a = b\u0001", "line 1: a control character is no part of a word"],
    ["a = \ud800", "half a surrogate pair is not a character"],
    ["x".repeat(100_001), "it has 100001 characters, at most 100000 are taken"]
  ])("is refused with its place: %j", (text, fault) => {
    assert.deepStrictEqual(faultsOf(text), [fault])
  })

  it("is bounded, and says ten faults at most", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, at) => `w${at} = x`).join("\n")
    assert.strictEqual(read(lines(lexiconLimits.entriesMax)).lexemes.length, 1_000)
    assert.deepStrictEqual(faultsOf(lines(1_001)), ["it has 1001 spellings of words, at most 1000 are taken"])
    assert.strictEqual(faultsOf("bad\n".repeat(30)).length, 10)
  })
})

describe("a document of PLS", () => {
  it("is read with its language, its alphabets and all spellings", () => {
    const text = pls(`
      <meta name="author" content="us"/><metadata><x xmlns="urn:x">any <b>thing</b></x></metadata>
      <lexeme xml:id="a"><grapheme>color</grapheme><grapheme>colour</grapheme><phoneme>ˈkʌlɚ</phoneme><example>a <b/>color</example></lexeme>
      <lexeme role="n"><grapheme>W3C &amp; co</grapheme><alias>World Wide Web Consortium</alias></lexeme>
      <lexeme><grapheme>Nguyen</grapheme><alias>win</alias><phoneme prefer="true" alphabet="x-sampa">"Nwi@n</phoneme></lexeme>
      <lexeme><grapheme>read</grapheme><phoneme>ɹɛd</phoneme><phoneme>ɹiːd</phoneme><alias>red</alias></lexeme>
      <lexeme><grapheme>SQL</grapheme><alias><![CDATA[sequel]]></alias><phoneme>ɛskjuːɛl</phoneme></lexeme>`)
    assert.deepStrictEqual(read(text), {
      format: "pls",
      language: "en-US",
      lexemes: [
        { grapheme: "color", ipa: "ˈkʌlɚ" },
        { grapheme: "colour", ipa: "ˈkʌlɚ" },
        { grapheme: "W3C & co", alias: "World Wide Web Consortium" },
        { grapheme: "Nguyen", alias: "win", ipa: "ˈŋwiən" },
        { grapheme: "read", alias: "red", ipa: "ɹɛd" },
        { grapheme: "SQL", alias: "sequel" }
      ]
    })
  })

  const lexeme = "<lexeme><grapheme>a</grapheme><alias>b</alias></lexeme>"
  it.each([
    [pls(""), "it has no words"],
    [pls(lexeme, `xml:lang="no language"`), `line 2: xml:lang "no language" is no language`],
    [pls("<lexeme><alias>b</alias></lexeme>"), "line 2: <lexeme> has no grapheme"],
    [pls("\n<lexeme><grapheme>a</grapheme></lexeme>"), "line 3: <lexeme> has neither an alias nor a phoneme"],
    [
      pls("<lexeme><grapheme>a</grapheme><phoneme>7</phoneme></lexeme>"),
      `line 2: the phonemes of a cannot be read: "7"`
    ],
    [
      pls(`<lexeme><grapheme>a</grapheme><phoneme alphabet="arpabet">K</phoneme></lexeme>`),
      "line 2: the alphabet arpabet is not known"
    ],
    [pls("<word/>"), "line 2: <word> is no element of <lexicon>"],
    [pls(`words${lexeme}`), "line 2: <lexicon> holds no text"],
    ["<speak>a</speak>", "line 1: <speak> is no element of a lexicon"],
    [`<!DOCTYPE lexicon [<!ENTITY a "b">]>${pls(lexeme).slice(39)}`, "line 1: a document type is not allowed"],
    [pls("<lexeme>"), "not well-formed XML"],
    [pls(`<metadata>${"<a>".repeat(30)}`), "elements are nested deeper than 20"]
  ])("is refused with its place: %s", (text, fault) => {
    assert.include(faultsOf(text).join("; "), fault)
  })
})
