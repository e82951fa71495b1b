/**
 * `text_normalization`: numbers, money, dates, times, units, addresses and abbreviations in English words, for engines
 * that would misread them. A rewritten text stays one word of the input, with the punctuation around it; everything
 * else is unchanged, and so are other languages. The reader uses a word and the one after it, so time is linear.
 */
import { Run, sliceRun, type TextRun } from "../text/runs.ts"
import {
  cardinal,
  decimal,
  digitByDigit,
  isMonthFirst,
  monthName,
  monthNumber,
  ordinal,
  readDate,
  readTime,
  year
} from "./numbers.ts"
import { readAddress } from "./signs.ts"
import { isMagnitude, readMeasure, readMoney } from "./signs.ts"

const longestWord = 300

export const isEnglish = (locale: string): boolean => /^en(?:$|-)/iu.test(locale)

export const normalise = (runs: ReadonlyArray<Run>, locale: string): ReadonlyArray<Run> =>
  isEnglish(locale)
    ? runs.flatMap((run) => (run._tag === "Text" && run.whole === null ? normaliseRun(run, locale) : [run]))
    : runs

const normaliseRun = (run: TextRun, locale: string): ReadonlyArray<Run> => {
  const words = Array.from(run.text.matchAll(/\S+/gu), ({ 0: text, index }) => wordOf(text, index))
  const runs: Array<Run> = []
  let done = 0
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]
    if (word === undefined || word.text.length > longestWord) continue
    const next = words[at + 1]
    // Punctuation between two words separates them.
    const follows = next !== undefined && word.trail === "" && next.lead === "" ? next : undefined
    const spoken = spokenForm(word.core, follows?.core, {
      previous: words[at - 1]?.core ?? "",
      beginsNext: next?.core ?? "",
      locale
    })
    if (spoken === undefined) continue
    const last = spoken.words === 2 && next !== undefined ? next : word
    if (last !== word) at += 1
    const [from, to] = [word.index, last.index + last.text.length]
    if (from > done) runs.push(sliceRun(run, done, from))
    const span = { start: run.starts[from] ?? 0, end: run.ends[to - 1] ?? 0 }
    const whole = Run.Whole(word.lead + spoken.text + last.trail, span, run.style)
    runs.push(run.language === undefined ? whole : { ...whole, language: run.language })
    done = to
  }
  if (done < run.text.length) runs.push(sliceRun(run, done, run.text.length))
  return runs
}

const leading = new Set("([{\"'“‘«¿¡")
const trailing = new Set(")]}\"'”’»,;:!?…")

/** A word without the quotes, brackets and marks around it. A full stop stays: it may belong to the word. */
const wordOf = (text: string, index: number) => {
  let [from, to] = [0, text.length]
  while (from < to && leading.has(text[from] ?? "")) from += 1
  while (to > from && (trailing.has(text[to - 1] ?? "") || endsOutside(text, to))) to -= 1
  return { text, index, lead: text.slice(0, from), core: text.slice(from, to), trail: text.slice(to) }
}

/** "1)." ends a sentence, "etc." may not. */
const endsOutside = (text: string, to: number) => text[to - 1] === "." && trailing.has(text[to - 2] ?? "")

interface Surroundings {
  readonly previous: string
  /** The next word, whatever is in between. */
  readonly beginsNext: string
  readonly locale: string
}

interface Spoken {
  readonly text: string
  /** How many words of the text the spoken form replaces. */
  readonly words: 1 | 2
}

/**
 * The spoken form of a written English word; undefined if it is spoken as written. `next` is the word that follows
 * without punctuation in between.
 */
const spokenForm = (word: string, next: string | undefined, around: Surroundings): Spoken | undefined => {
  const pair = next === undefined ? undefined : withStop(next, (bare) => ofPair(word, bare))
  if (pair !== undefined) return { text: pair, words: 2 }
  const abbreviation = spokenAbbreviation(word, around.beginsNext)
  const text = abbreviation ?? withStop(word, (bare) => ofWord(bare, around))
  return text === undefined ? undefined : { text, words: 1 }
}

/** A full stop at the end belongs to the sentence, not to the number. */
const withStop = (word: string, read: (bare: string) => string | undefined) => {
  const whole = word.endsWith(".") ? undefined : read(word)
  if (whole !== undefined || !word.endsWith(".")) return whole
  const bare = read(word.slice(0, -1))
  return bare === undefined ? undefined : `${bare}.`
}

const isNumber = /^[+−-]?\d[\d,]*(?:\.\d+)?$/u

const ofPair = (word: string, next: string): string | undefined => {
  if (/^\d{1,2}(?:st|nd|rd|th)?$/u.test(next) && /^[A-Z][a-z]{2,8}\.?$/u.test(word)) {
    const month = monthNumber(word)
    const day = Number.parseInt(next, 10)
    return month === undefined || day < 1 || day > 31 ? undefined : `${monthName(month)} ${ordinal(String(day))}`
  }
  if (word.length > 24) return undefined
  if (isMagnitude(next)) return readMoney(word + next)
  if (/^[ap]\.?m$/iu.test(next)) return readTime(word + next.replace(".", ""))
  // "5 m" is a length; "5 A" and "5 s" are uncertain.
  return isNumber.test(word) && /^(?:[a-z°µ]{2}|[mglhV%])/iu.test(next) ? readMeasure(word + next) : undefined
}

const ofWord = (word: string, around: Surroundings): string | undefined => {
  if (word.length <= 32 && /\d/u.test(word)) {
    const number = ofNumber(word, around)
    if (number !== undefined) return number
  }
  if (word === "&") return "and"
  return word.includes(".") || word.includes("@") ? readAddress(word) : undefined
}

const fractions = new Map([
  [2, "half"],
  [3, "third"],
  [4, "quarter"]
])
const beforeYears = new Set("in since until from by during of year before after circa".split(" "))

const ofNumber = (word: string, { locale, previous }: Surroundings): string | undefined => {
  if (/^\d{4}$/u.test(word) && beforeYears.has(previous.toLowerCase()))
    return isYear(word) ? year(word) : cardinal(word)
  if (/^[+−-]?(?:\d{1,3}(?:,\d{3}){1,4}|\d{1,15})(?:\.\d{1,15})?$/u.test(word)) return decimal(word)
  if (/^\d{16,32}$/u.test(word)) return digitByDigit(word)
  const [, first = "", infix, second = ""] = /^(\d{1,9})([/–-])(\d{1,9})$/u.exec(word) ?? []
  if (infix === "/") return fraction(first, second)
  if (infix !== undefined) {
    const areYears = isYear(first) && isYear(second)
    return areYears ? `${year(first)} to ${year(second)}` : `${cardinal(first)} to ${cardinal(second)}`
  }
  const [, nth] = /^(\d{1,9})(?:st|nd|rd|th)$/u.exec(word) ?? []
  if (nth !== undefined) return ordinal(nth)
  const [, hashed] = /^#(\d{1,9})$/u.exec(word) ?? []
  if (hashed !== undefined) return `number ${cardinal(hashed)}`
  return readMoney(word) ?? readTime(word) ?? readDate(word, isMonthFirst(locale)) ?? readMeasure(word)
}

const isYear = (digits: string) => /^(?:1[1-9]|20)\d{2}$/u.test(digits)

const fraction = (above: string, below: string) => {
  const [top, bottom] = [Number(above), Number(below)]
  if (top === 0 || bottom < 2 || bottom > 20 || top >= bottom) return `${cardinal(above)} over ${cardinal(below)}`
  const part = fractions.get(bottom) ?? ordinal(below)
  if (top === 1) return `one ${part}`
  return `${cardinal(above)} ${part === "half" ? "halves" : `${part}s`}`
}

// English abbreviations in full. An abbreviation that can end a sentence keeps its full stop if the next word starts
// one.
const always: Readonly<Record<string, string>> = {
  "mr.": "Mister",
  "mrs.": "Missus",
  "ms.": "Miz",
  "dr.": "Doctor",
  "prof.": "Professor",
  "rev.": "Reverend",
  "gen.": "General",
  "col.": "Colonel",
  "capt.": "Captain",
  "lt.": "Lieutenant",
  "sgt.": "Sergeant",
  "gov.": "Governor",
  "sen.": "Senator",
  "rep.": "Representative",
  "mt.": "Mount",
  "vs.": "versus",
  vs: "versus",
  "e.g.": "for example",
  "i.e.": "that is",
  "cf.": "compare",
  "approx.": "approximately",
  "w/": "with",
  "w/o": "without",
  mr: "Mister",
  mrs: "Missus",
  dr: "Doctor"
}

const perhapsLast: Readonly<Record<string, string>> = {
  "etc.": "et cetera",
  "inc.": "Incorporated",
  "ltd.": "Limited",
  "co.": "Company",
  "corp.": "Corporation",
  "jr.": "Junior",
  "sr.": "Senior",
  "dept.": "Department",
  "ave.": "Avenue",
  "blvd.": "Boulevard",
  "rd.": "Road",
  "est.": "established",
  "hrs.": "hours",
  "min.": "minutes",
  "max.": "maximum"
}

const numbered: Readonly<Record<string, string>> = {
  "no.": "number",
  "nos.": "numbers",
  "fig.": "figure",
  "vol.": "volume",
  "p.": "page",
  "pp.": "pages",
  "ch.": "chapter",
  "sec.": "section"
}

/** `next` is the following word, empty at the end. */
const spokenAbbreviation = (word: string, next: string): string | undefined => {
  if (word.length > 8) return undefined
  const key = word.toLowerCase()
  const isNameNext = /^\p{Lu}/u.test(next)
  // After a name it is a street, before one a saint. "Dr." is always the doctor, the more common meaning.
  if (key === "st.") return isNameNext ? "Saint" : `Street${next === "" ? "." : ""}`
  if (Object.hasOwn(numbered, key)) return /^\d/u.test(next) ? numbered[key] : undefined
  if (Object.hasOwn(always, key)) return /^[a-z]/u.test(word) && isTitle(key) ? undefined : always[key]
  if (!Object.hasOwn(perhapsLast, key)) return undefined
  return `${perhapsLast[key]}${next === "" || isNameNext ? "." : ""}`
}

/** Titles are capitalized; "col." may be a column and "mr" nothing at all. */
const isTitle = (key: string) => /^(?:mrs?|ms|dr|prof|rev|gen|col|capt|lt|sgt|gov|sen|rep|mt)\.?$/u.test(key)
