/**
 * The scripts of a text. A voice reads those of its own language, and Latin letters; words in other scripts go to a
 * voice that reads them. Letters that no engine knows stay where they are. Pure.
 */
import { type Run, sliceRun, type TextRun } from "./runs.ts"

interface Script {
  /** A BCP 47 range for any language in it: `und-Cyrl`. */
  readonly language: string
  readonly name: string
  readonly letters: RegExp
  /** The languages written in it, the first one for a text about which nothing else is known. */
  readonly readBy: ReadonlyArray<string>
  readonly locale: string
}

const script = (code: string, name: string, locale: string, readBy: string, letters: RegExp): Script => ({
  language: `und-${code}`,
  name,
  letters,
  readBy: readBy.split(" "),
  locale
})

/** Japanese comes before Chinese: a word with any kana is Japanese, whatever else it contains. */
const scripts: ReadonlyArray<Script> = [
  script("Cyrl", "Cyrillic", "ru-RU", "ru uk bg be mk sr kk ky tt ba cv mn tg", /\p{Script=Cyrillic}/u),
  // A single letter is a sign of mathematics or physics.
  script("Grek", "Greek", "el-GR", "el grc", /\p{Script=Greek}{2}/u),
  script("Jpan", "Japanese", "ja-JP", "ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/u),
  script("Hang", "Hangul", "ko-KR", "ko", /\p{Script=Hangul}/u),
  script("Hani", "Han", "zh-CN", "zh cmn yue hak ja ko", /[\p{Script=Han}\p{Script=Bopomofo}]/u),
  script("Arab", "Arabic", "ar-SA", "ar fa ur sd ug ps ku", /\p{Script=Arabic}/u),
  script("Hebr", "Hebrew", "he-IL", "he yi", /\p{Script=Hebrew}/u),
  script("Deva", "Devanagari", "hi-IN", "hi mr ne kok sa", /\p{Script=Devanagari}/u),
  script("Thai", "Thai", "th-TH", "th", /\p{Script=Thai}/u),
  script("Beng", "Bengali", "bn-BD", "bn as", /\p{Script=Bengali}/u),
  script("Guru", "Gurmukhi", "pa-IN", "pa", /\p{Script=Gurmukhi}/u),
  script("Gujr", "Gujarati", "gu-IN", "gu", /\p{Script=Gujarati}/u),
  script("Orya", "Oriya", "or-IN", "or", /\p{Script=Oriya}/u),
  script("Taml", "Tamil", "ta-IN", "ta", /\p{Script=Tamil}/u),
  script("Telu", "Telugu", "te-IN", "te", /\p{Script=Telugu}/u),
  script("Knda", "Kannada", "kn-IN", "kn", /\p{Script=Kannada}/u),
  script("Mlym", "Malayalam", "ml-IN", "ml", /\p{Script=Malayalam}/u),
  script("Sinh", "Sinhala", "si-LK", "si", /\p{Script=Sinhala}/u),
  script("Mymr", "Myanmar", "my-MM", "my", /\p{Script=Myanmar}/u),
  script("Geor", "Georgian", "ka-GE", "ka", /\p{Script=Georgian}/u),
  script("Armn", "Armenian", "hy-AM", "hy", /\p{Script=Armenian}/u),
  script("Ethi", "Ethiopic", "am-ET", "am ti", /\p{Script=Ethiopic}/u)
]

const latin = "\\p{Script=Latin}\\p{Script=Common}\\p{Script=Inherited}"
const beyondLatin = new RegExp(`[^${latin}]`, "u")

const baseOf = (locale: string) => locale.replace(/-.*$/su, "").toLowerCase()

/** The scripts in a text that a voice of the locale does not read. */
export const scriptsBeyond = (text: string, locale: string): ReadonlyArray<Script> => {
  if (!beyondLatin.test(text)) return []
  const base = baseOf(locale)
  return scripts.filter(({ letters, readBy }) => !readBy.includes(base) && letters.test(text))
}

export interface Unread {
  readonly language: string
  readonly message: string
}

/** The language range of a word that a voice of the locale does not read. */
const unreadIn = (word: string, locale: string): Unread | undefined => {
  if (!beyondLatin.test(word)) return undefined
  const base = baseOf(locale)
  const found = scripts.find(({ letters }) => letters.test(word))
  if (found === undefined || found.readBy.includes(base)) return undefined
  return { language: found.language, message: `no voice reads ${found.name} letters` }
}

interface Divided {
  readonly runs: ReadonlyArray<Run>
  /** Words that no voice reads; their runs are left out. */
  readonly unread: ReadonlyArray<Unread & { readonly offset: number }>
}

interface Stretch {
  readonly from: number
  to: number
  unread: Unread | undefined
  hasLetters: boolean
}

/**
 * Runs in which words that the voice cannot read have the language range of their script. Words without letters stay
 * with the words around them. `reads`: the locale that a run is spoken in, and the ranges that some voice reads.
 */
export const dividedByScript = (
  runs: ReadonlyArray<Run>,
  { localeOf, isRead }: { readonly localeOf: (run: TextRun) => string; readonly isRead: (language: string) => boolean }
): Divided => {
  const unread: Array<Unread & { offset: number }> = []
  const divided = runs.flatMap((run): ReadonlyArray<Run> => {
    if (run._tag !== "Text" || run.ipa !== undefined || !beyondLatin.test(run.text)) return [run]
    return stretchesOf(run, localeOf(run)).flatMap(({ from, to, unread: found }) => {
      const part = run.whole === null ? sliceRun(run, from, to) : run
      if (found === undefined) return [part]
      if (isRead(found.language)) return [{ ...part, language: found.language }]
      unread.push({ ...found, offset: run.starts[from] ?? 0 })
      return []
    })
  })
  return { runs: divided, unread }
}

/** A lone Greek letter is a sign, and belongs among Greek words. */
const letter = /(?!\p{Script=Greek})\p{L}/u

/** A word that stands for another is of one script, the first that is not read. */
const stretchesOf = (run: TextRun, locale: string): ReadonlyArray<Stretch> => {
  const words = Array.from(run.text.matchAll(/\S+/gu), ({ 0: word, index }) => ({ word, index }))
  if (run.whole !== null) {
    const found = words.map(({ word }) => unreadIn(word, locale)).find((one) => one !== undefined)
    return [{ from: 0, to: run.text.length, unread: found, hasLetters: true }]
  }
  const stretches: Array<Stretch> = []
  let end = 0
  for (const { word, index } of words) {
    const found = unreadIn(word, locale)
    const last = stretches.at(-1)
    // A number or a sign belongs to the words before it; at the start, to those after it.
    const hasLetters = found !== undefined || letter.test(word)
    if (last !== undefined && !last.hasLetters) last.unread = found
    if (last !== undefined && (last.unread?.language === found?.language || !hasLetters)) {
      last.to = index + word.length
      last.hasLetters ||= hasLetters
    } else {
      // White space belongs to the stretch before it.
      if (last !== undefined) last.to = index
      stretches.push({ from: last === undefined ? 0 : index, to: index + word.length, unread: found, hasLetters })
    }
    end = index + word.length
  }
  const last = stretches.at(-1)
  if (last === undefined) return [{ from: 0, to: run.text.length, unread: undefined, hasLetters: false }]
  if (end < run.text.length) last.to = run.text.length
  return stretches
}
