/** What was said and what was heard, made comparable, and how far apart they are. Pure. */
import { toCardinal as de } from "n2words/de-DE"
import { toCardinal as en } from "n2words/en-US"
import { toCardinal as es } from "n2words/es-ES"
import { toCardinal as fr } from "n2words/fr-FR"
import { toCardinal as it } from "n2words/it-IT"
import { toCardinal as pt } from "n2words/pt-PT"

/** Two writings of what sounds alike, the second of which is compared. */
const writings: Readonly<Record<string, ReadonlyArray<readonly [RegExp, string]>>> = {
  en: [
    [/\./gu, ""],
    [/(\d),(?=\d{3})/gu, "$1"],
    [/\b(1[1-9])(\d\d)\b/gu, "$1 $2"],
    [/[£](\d+)/gu, "$1 pounds"],
    [/(\d)%/gu, "$1 percent"],
    [/\bper cent\b/gu, "percent"],
    [/\ba (?=hundred|thousand|million)/gu, "one "],
    [/\b(would|could|should|might|must)'ve\b/gu, "$1 have"],
    [/\bok\b/gu, "okay"],
    [/\bmr\b/gu, "mister"],
    [/\bdr\b/gu, "doctor"],
    [/\bquay/gu, "key"],
    [/\bgrey/gu, "gray"],
    [/\btyre/gu, "tire"],
    [/(\w)our(s|ed|ing|able|ite|ites)?\b/gu, "$1or$2"],
    [/(\w)is(e|es|ed|ing|ation)\b/gu, "$1iz$2"],
    [/(\w)ll(er|ers|ed|ing)\b/gu, "$1l$2"],
    [/(\w)tre(s)?\b/gu, "$1ter$2"]
  ],
  de: [[/ß/gu, "ss"]],
  es: [[/cientas\b/gu, "cientos"]],
  pt: [[/(cent|zent)as\b/gu, "$1os"]]
}

const cardinals: Readonly<Record<string, (value: number) => string>> = { de, en, es, fr, it, pt }

/** The words as they are compared: of one case, without punctuation, numbers as words, in one spelling. */
export const wordsIn = (text: string, language: string): ReadonlyArray<string> => {
  const plain = text.normalize("NFKC").toLowerCase().replaceAll(/[’‘]/gu, "'")
  const written = (writings[language] ?? []).reduce((all, [from, to]) => all.replaceAll(from, to), plain)
  const named = written.replaceAll(/\d{1,15}/gu, (digits) => ` ${cardinals[language]?.(Number(digits)) ?? digits} `)
  return named.match(/[\p{L}\p{N}]+(?:'[\p{L}]+)*/gu) ?? []
}

/** Marks of length, voice, syllable and place, and the ties of affricates, in which two notations differ. */
const phonemeDetails = /[\p{M}ːˑ˞ʰʲʷˠˤ‿\s]/gu

/** A string of phonemes as single sounds. */
export const phonemesIn = (symbols: string): ReadonlyArray<string> => [
  ...symbols.normalize("NFD").replaceAll(phonemeDetails, "").replaceAll("ɡ", "g")
]

/** From each place of both on, how many were lost, added, or heard as others. */
const costsOf = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<number>> => {
  const costs = Array.from({ length: said.length + 1 }, (_, index) =>
    Array.from({ length: heard.length + 1 }, (_, at) => said.length - index + heard.length - at)
  )
  const cost = (index: number, at: number) => costs[index]?.[at] ?? Number.POSITIVE_INFINITY
  for (let index = said.length - 1; index >= 0; index--) {
    for (let at = heard.length - 1; at >= 0; at--) {
      const [word, other, row] = [said[index], heard[at], costs[index]]
      if (row === undefined) continue
      row[at] = Math.min(
        cost(index + 1, at + 1) + (word === other ? 0 : 1),
        cost(index + 1, at) + 1,
        cost(index, at + 1) + 1,
        `${other}${heard[at + 1]}` === word ? cost(index + 1, at + 2) : Number.POSITIVE_INFINITY,
        `${word}${said[index + 1]}` === other ? cost(index + 2, at + 1) : Number.POSITIVE_INFINITY
      )
    }
  }
  return costs
}

/**
 * How many of those said were lost, added, or heard as others. Words that were heard as one, or one that was heard as two,
 * are right when their letters are.
 */
export const errorsBetween = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>): number =>
  costsOf(said, heard)[0]?.[0] ?? 0

/** For each expected word, when its first sound was heard; undefined for one whose first sound was heard as another. */
export const startsHeard = (
  expected: ReadonlyArray<readonly [word: string, phonemes: string]>,
  heard: ReadonlyArray<readonly [symbol: string, atMs: number]>
): ReadonlyArray<number | undefined> => {
  const said = expected.flatMap(([, symbols], word) =>
    phonemesIn(symbols).map((sound, index) => ({ sound, word, isFirst: index === 0 }))
  )
  const sounds = heard.flatMap(([symbol, atMs]) => phonemesIn(symbol).map((sound) => ({ sound, atMs })))
  const costs = costsOf(
    said.map(({ sound }) => sound),
    sounds.map(({ sound }) => sound)
  )
  const starts: Array<number | undefined> = expected.map(() => undefined)
  let [index, at] = [0, 0]
  for (;;) {
    const [here, other] = [said[index], sounds[at]]
    if (here === undefined || other === undefined) return starts
    const cost = costs[index]?.[at] ?? 0
    const isSame = here.sound === other.sound
    if (cost === (costs[index + 1]?.[at + 1] ?? 0) + (isSame ? 0 : 1)) {
      if (isSame && here.isFirst) starts[here.word] = other.atMs
      index++
      at++
    } else if (cost === (costs[index + 1]?.[at] ?? 0) + 1) index++
    else at++
  }
}
