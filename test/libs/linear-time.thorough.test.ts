/**
 * Whatever reads foreign text takes time that grows as the text does. Each reader gets hostile texts of growing sizes: a
 * beginning, very many of a part of one or two characters, and an end. A size is reached only after smaller ones took
 * their due time, so that an exponential search ends here too.
 */
import { assert, describe, it } from "@effect/vitest"
import { parseJsonText } from "#base"
import { parseJson } from "#base/json"
import { retryAfterMs, sanitise } from "#egress"
import { phonemesOf } from "../../libs/speech/engine/onnx/phonemes.ts"
import { readIpa } from "../../libs/speech/phonemes/ipa.ts"
import { decodePayment, readPayment } from "#payments"
import { deliveryIdFrom } from "#webhooks"
import { makeRedact } from "../../libs/runtime/Redactor.ts"
import {
  clauseSplitter,
  type ClauseSplitter,
  lexemesIn,
  matcherOf,
  readInput,
  readLexicon,
  silenceOf,
  ssmlClauseSplitter
} from "#speech"
import { computed } from "../support/processor-time.ts"

const marks = ["<", ">", "&", ";", '"', "'", "/", "=", "!", "-", ".", "?", ",", ":", "(", "[", "{", "@", "#", "\\", "*"]
const others = ["a", "A", "1", " ", "\t", "\n", "\u2029", "é", "。", "東", "😀"]
// Readers tell letters apart where they are escapes or exponents, else all alike.
const ascii = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index)).filter((character) =>
  /[^a-z\d]|[0abenuvxz]/iu.test(character)
)
const joined = (left: ReadonlyArray<string>, right: ReadonlyArray<string>) =>
  left.flatMap((one) => right.map((other) => one + other))
const words = [
  "<a",
  "</a>",
  "<a>",
  "<!--",
  "-->",
  "<break",
  "&#6",
  "a b",
  "1,",
  "http://",
  "a@a",
  "a.a",
  "x: x",
  "==",
  "eyJ"
]
const few = [...marks, ...others, ...joined(marks, ["a", " ", "<", '"']), ...words]
// Pieces cost more than the text that comes in them.
const fewest = [...marks, ...others, ...words]
const parts = [...new Set([...ascii, ...few])]

interface Reader {
  readonly read: (text: string) => unknown
  readonly begins?: ReadonlyArray<string>
  readonly ends?: ReadonlyArray<string>
  readonly parts?: ReadonlyArray<string>
  /** The longest text, where a reader takes no longer one. */
  readonly charactersMax?: number
}

const inPieces = (splitter: ClauseSplitter, text: string) => {
  for (let at = 0; at < text.length; at += 3) {
    const piece = text.slice(at, at + 3)
    if (splitter.faultIn(piece) === undefined) splitter.push(piece)
    if (at % 3_000 === 0) splitter.overdue()
  }
  return splitter.flush()
}

const locale = "en-US"
const matcher = matcherOf([
  { grapheme: "a", alias: "b" },
  { grapheme: "a b c", alias: "d" },
  { grapheme: "<a", alias: "e" }
])
const redact = makeRedact()
const beginsOfSsml = ["<speak>", "<speak><a", "<speak><sub alias=", "<speak><!--", "<speak><lang xml:lang="]
const beginsOfMarkup = ["", '<a "', "<!--", "<emphasis>"]

const readers: Readonly<Record<string, Reader>> = {
  "plain text": { read: (text) => readInput(text, { locale, textNormalization: true }) },
  ...Object.fromEntries(
    ["de-DE", "es-ES", "fr-FR", "it-IT", "pt-BR"].map((locale): [string, Reader] => [
      `plain text in ${locale}`,
      { read: (text) => readInput(text, { locale, textNormalization: true }), parts: few }
    ])
  ),
  "plain text of another language": { read: (text) => readInput(text, { locale: "zh-CN", textNormalization: false }) },
  SSML: {
    read: (text) => readInput(text, { locale, textNormalization: true }),
    begins: beginsOfSsml,
    ends: ["", "</speak>"],
    parts: few
  },
  "live text": { read: (text) => inPieces(clauseSplitter(), text), ends: [""], parts: few },
  "live SSML": {
    read: (text) => inPieces(ssmlClauseSplitter(), text),
    begins: beginsOfMarkup,
    ends: [""],
    parts: fewest
  },
  "a clause's silence": { read: (text) => silenceOf({ text, start: 0 }), begins: ["", "<break"], parts: few },
  "a lexicon": { read: readLexicon, begins: ["", "a = ", "a /", "<lexicon><lexeme>"], ends: ["", "/", "\nx"] },
  "a text with a lexicon's words": {
    read: (text) => lexemesIn(text, matcher),
    begins: ["", "<speak>"],
    ends: ["", "</speak>"]
  },
  // A chunk has no more.
  "phonemes of a text": {
    read: (text) => phonemesOf({ text }, "en", (spoken) => spoken),
    charactersMax: 400,
    parts: few
  },
  "phonemes of the IPA": { read: readIpa, charactersMax: 400, begins: ["", "a"], ends: ["", "a"], parts: few },
  "a provider's error": { read: (text) => sanitise(text, { secrets: ["secret"], names: ["name"] }) },
  "a text for the log": { read: redact },
  JSON: {
    read: (text) => [parseJson(Buffer.from(text)), parseJsonText(text, { depthMax: 64, weightMax: 100_000 })],
    begins: ["", '"', "[", '{"a":'],
    parts: few
  },
  "a payment header": { read: decodePayment, ends: ["", "="] },
  "payment headers": {
    read: (text) => readPayment({ "payment-signature": [text], "x-payment": [text] }),
    begins: ["", "e30", ","]
  },
  "Retry-After": { read: (text) => retryAfterMs(text, 0), begins: ["", "1", "Sun, 06 Nov"] },
  "a delivery's name": { read: deliveryIdFrom }
}

const sizes = [16, 24, 32, 40, 48, 64, 256, 2_000, 16_000]
// Below this nothing is said about growth; it is more than a linear reader takes for the longest text on a slow machine.
const unseenMs = 60
// Linear time is eight times as long for the last size, and an unfinished tag of 1,000 characters is read again for each piece.
const slower = 6

const leastMs = (read: Reader["read"], text: string, enoughMs: number) => {
  let least = Infinity
  for (let time = 0; time < 3 && least > enoughMs; time += 1) {
    least = Math.min(least, computed(() => read(text)).processorMs)
  }
  return least
}

/** The first size that took too long, for who reads the failure. */
const grownAt = ({ read, charactersMax = Infinity }: Reader, textOf: (size: number) => string) => {
  let [beforeMs, before] = [0, 0]
  for (const size of sizes) {
    if (size > charactersMax) return undefined
    const dueMs = Math.max(unseenMs, slower * (size / Math.max(1, before)) * Math.max(1, beforeMs))
    const tookMs = leastMs(read, textOf(size), dueMs)
    if (tookMs > dueMs)
      return `${size} characters: ${tookMs.toFixed(0)} ms, ${before} characters: ${beforeMs.toFixed(1)} ms`
    ;[beforeMs, before] = [tookMs, size]
  }
  return undefined
}

describe("the time to read a hostile text grows as its length does", () => {
  it.each(Object.entries(readers))("for %s", (_, reader) => {
    const { begins = [""], ends = ["", "\0"], parts: pumps = parts } = reader
    for (const begin of begins) {
      for (const end of ends) {
        for (const part of pumps) {
          const textOf = (size: number) => begin + part.repeat(Math.ceil(size / part.length)) + end
          const grown = grownAt(reader, textOf)
          if (grown !== undefined)
            assert.fail(`${JSON.stringify(begin)} ${JSON.stringify(part)}… ${JSON.stringify(end)}, ${grown}`)
        }
      }
    }
  })
})
