/**
 * The words that are spoken for what is written: numbers, money, dates, times, units, signs and abbreviations of a
 * language, in full. What is rewritten stays one word of the input, or as many as were written; everything else, and
 * every other language, stays as it is. Each kind reads a word and a few after it, so time is linear. Pure.
 */
import { Run, sliceRun, type TextRun } from "../text/runs.ts"
import { sayAddress } from "./kinds/address.ts"
import { sayCode } from "./kinds/code.ts"
import { sayDate } from "./kinds/date.ts"
import { sayFraction, mixedNumber } from "./kinds/fraction.ts"
import { languageOf } from "./languages/index.ts"
import { magnitudeOfMoney, sayMoney } from "./kinds/money.ts"
import { measureInWords, sayMeasure } from "./kinds/measure.ts"
import { sayPlain } from "./kinds/plain.ts"
import { rangeInWords, sayRange } from "./kinds/range.ts"
import { sayElided, saySigned } from "./kinds/sign.ts"
import { sayTime, timeInWords } from "./kinds/time.ts"
import { telephoneNumber } from "./kinds/telephone.ts"
import { withoutEmoji } from "./emoji.ts"
import { withPlainLetters } from "./letters.ts"
import type { Kind, Language, Reader } from "./language.ts"
import { sayMath } from "./kinds/math.ts"
import { type Place, type Said, said, wordAt, type Word, wordsOf } from "./word.ts"

/** Changes with what is said for a text: finished speech that is kept belongs to one version. */
export const verbaliserVersion = 2

/** A pause, whatever stands beside it. */
const loneMark = /^[.,;:!?…'"()]$/u

/** A longer word is read as it is written. */
const longestWord = 300

/** What is said for a text is at most so many times as long: "½" is a letter, and "one half" eight. */
export const expansionMax = 20

export const verbalise = (runs: ReadonlyArray<Run>, locale: string): ReadonlyArray<Run> => {
  const language = languageOf(locale)
  return runs.flatMap((run) => {
    if (run._tag !== "Text" || run.whole !== null) return [run]
    const plain = withPlainLetters(run)
    return language === undefined ? [plain] : verbaliseRun(plain, locale, language)
  })
}

const verbaliseRun = (run: TextRun, locale: string, language: Language): ReadonlyArray<Run> => {
  const words = wordsOf(run.text, language.groupSpace)
  const runs: Array<Run> = []
  let done = 0
  for (let at = 0; at < words.length; at += 1) {
    const spoken = saidAt({ words, at, locale, text: run.text }, language)
    if (spoken === undefined) continue
    for (const { text, from, to } of spansOf(words, at, spoken)) {
      // "Well done 🎉!": no space stands before the mark that is left.
      const before = /^[!?.,;:]/u.test(text) ? run.text.slice(done, from).trimEnd().length + done : from
      if (before > done) runs.push(sliceRun(run, done, before))
      // What is silent leaves no word, and so no mark.
      if (text !== "")
        runs.push(isWithinBound(text, to - from) ? wholeOf(run, text, from, to) : sliceRun(run, from, to))
      done = to
    }
    at += spoken.parts.length - 1
  }
  if (done === 0) return [run]
  if (done < run.text.length) runs.push(sliceRun(run, done, run.text.length))
  return runs
}

/** Half a number would be another one: what grows beyond the bound stays as it is written. */
const isWithinBound = (text: string, written: number) => text.length <= Math.max(64, written * expansionMax)

const wholeOf = (run: TextRun, text: string, from: number, to: number): Run => {
  const span = { start: run.starts[from] ?? 0, end: run.ends[to - 1] ?? 0 }
  const whole = Run.Whole(text, span, run.style)
  return run.language === undefined ? whole : { ...whole, language: run.language }
}

const saidAt = (place: Place, language: Language): Said | undefined => {
  const word = wordAt(place)
  if (word === undefined || word.text.length > longestWord || loneMark.test(word.text)) return undefined
  if (isSilent(place, word)) return said("")
  return (
    firstOf(language.kinds, place, language) ??
    firstOf(phrases, place, language) ??
    wordSaid(sayCore(word.core, language, place)) ??
    firstOf(language.lateKinds, place, language) ??
    undressed(word)
  )
}

const wordSaid = (text: string | undefined) => (text === undefined ? undefined : said(text))

const firstOf = (kinds: ReadonlyArray<Kind>, place: Place, language: Language): Said | undefined => {
  for (const kind of kinds) {
    const spoken = kind(place, language)
    if (spoken !== undefined) return spoken
  }
  return undefined
}

/** Kinds that need the words after them. */
const phrases: ReadonlyArray<Kind> = [
  telephoneNumber,
  timeInWords,
  rangeInWords,
  magnitudeOfMoney,
  mixedNumber,
  measureInWords
]

/** A word by itself: the first that reads it. */
const readers: ReadonlyArray<Reader> = [
  sayPlain,
  sayDate,
  sayTime,
  sayMoney,
  sayMeasure,
  sayFraction,
  (core, language, place) => sayMath(core, language, place, sayCore),
  (core, language, place) => sayRange(core, language, place, sayCore),
  (core, language, place) => saySigned(core, language, place, sayCore),
  (core, language, place) => sayElided(core, language, place, sayCore),
  sayAddress,
  sayCode
]

export const sayCore: Reader = (core, language, place) => {
  if (/^[\p{Script=Latin}\p{M}'’]+$/u.test(core)) return undefined
  const plain = withoutEmoji(core)
  if (plain !== core) return plain === "" ? "" : (sayCore(plain, language, place) ?? plain)
  for (const reader of readers) {
    const text = reader(core, language, place)
    if (text !== undefined) return text
  }
  return undefined
}

const markup = /[*_`|[\]]+/gu

/** The signs of Markdown around a word are not spoken. */
const undressed = ({ core, lead, trail }: Word): Said | undefined =>
  /[*_`|[\]]/u.test(lead + trail) ? said(core) : undefined

/** A heading's sign, a bullet, a line across, a cell's border, a smile. */
const isSilent = (place: Place, { core, text }: Word) => {
  if (/^`[|*_]{1,3}`/u.test(text)) return false
  // "= $25.98": the rest of a sum.
  if (core === "=" && /^\p{Sc}?\d/u.test(wordAt(place, 1)?.core ?? "")) return false
  if (/^(?:[#•▪◦●■○►·=*_`|]{1,80}|[:;]-?[)(DPp])$/u.test(core) || /^(?:[:;]-?[)(DPp]|[-–—|:]{3,80})$/u.test(text)) {
    return !/^(?:[*·#]|={1,3})$/u.test(core) || place.at === 0 || beginsLine(place)
  }
  return /^(?:[-–—+>]|[*])$/u.test(text) && (place.at === 0 || beginsLine(place))
}

const beginsLine = ({ at, text, words }: Place) => {
  const [before, word] = [words[at - 1], words[at]]
  return (
    before !== undefined &&
    word !== undefined &&
    text.slice(before.index + before.text.length, word.index).includes("\n")
  )
}

interface SpokenSpan {
  readonly text: string
  readonly from: number
  readonly to: number
}

/** What stands behind a word, without the address of a link. */
const trailOf = ({ trail }: Word) => trail.replaceAll(linkBehind, "").replaceAll(markup, "")
const linkBehind = /\]\([^\s()]{0,300}\)/gu

/** Each spoken part with the place of its written words; punctuation around them stays. */
const spansOf = (
  words: ReadonlyArray<Word>,
  at: number,
  { isBare = false, parts, takesStop = false }: Said
): ReadonlyArray<SpokenSpan> => {
  const spans: Array<SpokenSpan> = []
  for (const [n, part] of parts.entries()) {
    const word = words[at + n]
    if (word === undefined || part === null) continue
    let last = n
    while (parts[last + 1] === null) last += 1
    const end = words[at + last] ?? word
    const isLast = last === parts.length - 1
    const next = words[at + last + 1]
    // No sentence goes on in small letters: the full stop was an abbreviation's.
    const isWithin = /^[,;:]/u.test(end.trail) || (end.trail === "" && next !== undefined && /^\p{Ll}/u.test(next.core))
    const stop = isLast && !takesStop && !isWithin ? end.stop : ""
    const lead = isBare ? "" : word.lead.replace(/^!(?=\[)/u, "").replaceAll(markup, "")
    const trail = isBare ? end.trail.replace(/^[)"”″'’]/u, "") : trailOf(end)
    const text = `${lead}${part}${stop}${trail}`
    spans.push({ text, from: word.index, to: end.index + end.text.length })
  }
  return spans
}
