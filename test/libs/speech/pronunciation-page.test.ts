import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { otherVoices } from "../../../libs/speech/other-voices.ts"
import { readInput } from "../../../libs/speech/read-input.ts"
import { engineVoice, sharedVoices, voiceById } from "../../../libs/speech/voices.ts"
import { readLexicon } from "../../../libs/speech/lexicon/lexicon.ts"
import { assertLaws } from "./laws.ts"

const page = readFileSync("docs/pronunciation.md", "utf8")
const examples = [...page.matchAll(/```xml\n(<speak>.*?)\n```/gsu)].map(([, input = ""]) => input)

const selma = voiceById("selma")
const voice = selma === undefined ? undefined : engineVoice(selma)

/** What is spoken by which voice, and the phonemes in it. */
const spoken = (input: string) => {
  if (voice === undefined) throw new Error("there is no selma")
  const speakers = { voices: sharedVoices, byId: voiceById, isSilent: () => false }
  const others = otherVoices(speakers, { voiceId: "selma", voice, locale: "en-US", input }, 1)
  const languages = others.map(({ language, locale }) => [language, { locale, isOwn: false }] as const)
  const reading = Result.getOrThrow(
    readInput(input, { locale: "en-US", textNormalization: false, others: new Map(languages) })
  )
  assertLaws(input, reading)
  return reading.chunks.map(({ language, pieces, tokens }) => [
    others.find((other) => other.language === language)?.voiceId ?? "selma",
    tokens.map(({ value }) => value).join(" "),
    ...pieces.flatMap(({ pronunciations = [] }) => pronunciations.map(({ ipa }) => ipa))
  ])
}

describe("the page on pronunciation", () => {
  it("has examples that are spoken as it says", () => {
    assert.deepStrictEqual(examples.map(spoken), [
      [["selma", "I say tomato you say tomato", "təˈmɑːtəʊ", "təˈmeɪtoʊ"]],
      [
        ["selma", "The word"],
        ["lena", "Straßenbahn"],
        ["selma", "means tram, and"],
        ["camille", "rue"],
        ["selma", "means street."]
      ]
    ])
    assert.deepStrictEqual(spoken(/"(We met in [^"]+)"/u.exec(page)?.[1] ?? ""), [
      ["selma", "We met in"],
      ["irina", "Москва"]
    ])
  })

  it("has lexicons that are read as it says", () => {
    const [list = "", pls = ""] = [/```text\n(.*?)```/su, /```xml\n(<\?xml.*?)```/su].map((one) => one.exec(page)?.[1])
    assert.deepStrictEqual(Result.getOrThrow(readLexicon(list)), {
      format: "list",
      lexemes: [
        { grapheme: "SQL", alias: "sequel" },
        { grapheme: "Nguyen", ipa: "ˈŋwiən" },
        { grapheme: "New York", alias: "the big apple" }
      ]
    })
    assert.deepStrictEqual(Result.getOrThrow(readLexicon(pls)), {
      format: "pls",
      language: "en-US",
      lexemes: [
        { grapheme: "colour", ipa: "ˈkʌlɚ" },
        { grapheme: "color", ipa: "ˈkʌlɚ" },
        { grapheme: "W3C", alias: "World Wide Web Consortium" },
        { grapheme: "gnocchi", alias: "nyocky", ipa: "ˈnjɒki" }
      ]
    })
  })

  it("names every script that is known", () => {
    const [, names = ""] = /Words in (Cyrillic,.*?)\s+letters go/su.exec(page) ?? []
    assert.strictEqual(names.split(/,\s+|\s+or\s+/u).length, 22)
  })
})
