/**
 * From text to the phonemes that Kokoro's models read, and where in them each word begins. espeak-ng says how words
 * sound; its phonemes are rewritten into Kokoro's alphabet, and punctuation, which models hear, stays. Pure, but for the
 * function that speaks for espeak-ng.
 */

/** The phonemes of a clause in one language, by espeak-ng: IPA with `^` inside what is one sound, spaces between words. */
export type Phonemize = (clause: string, language: string) => string

export interface Phonemes {
  /** Each is a symbol of the model's vocabulary. */
  readonly symbols: string
  /** Where each word begins, in the text and in the symbols. */
  readonly words: ReadonlyArray<{ readonly position: number; readonly symbol: number }>
}

interface Word {
  readonly position: number
  readonly before: string
  readonly core: string
  readonly after: string
}

/** Marks that a model hears; others are left out. */
const heard = /[;:,.!?—…"“”()]/gu
const words = /(\S+)(\s*)/gu
const wordParts = /^([^\p{L}\p{N}$£€%&+@#]*)(.*?)([^\p{L}\p{N}$£€%&+@#]*)$/su
const endsClause = /[;:,.!?—…)”"]/u

export const phonemesOf = (text: string, language: string, phonemize: Phonemize): Phonemes => {
  const found: Array<{ readonly position: number; readonly symbol: number }> = []
  let symbols = ""
  for (const clause of clausesOf(text)) {
    const spoken = spokenWords(clause, language, phonemize)
    for (const [index, word] of clause.entries()) {
      const lead = symbols === "" ? "" : " "
      symbols += lead + marksOf(word.before)
      if (word.core !== "") found.push({ position: word.position, symbol: symbols.length })
      symbols += (spoken[index] ?? "") + marksOf(word.after)
    }
  }
  return { symbols, words: found }
}

const marksOf = (text: string) => (text.match(heard) ?? []).join("")

const clausesOf = (text: string): ReadonlyArray<ReadonlyArray<Word>> => {
  const clauses: Array<ReadonlyArray<Word>> = []
  let clause: Array<Word> = []
  for (const match of text.matchAll(words)) {
    const [, before = "", core = "", after = ""] = wordParts.exec(match[1] ?? "") ?? []
    clause.push({ position: match.index + before.length, before, core, after })
    if (!endsClause.test(after) && !(core === "" && endsClause.test(before))) continue
    clauses.push(clause)
    clause = []
  }
  return clause.length === 0 ? clauses : [...clauses, clause]
}

/** The phonemes of each word of a clause, as they sound together. */
const spokenWords = (clause: ReadonlyArray<Word>, language: string, phonemize: Phonemize): ReadonlyArray<string> => {
  const cores = clause.map(({ core }) => core)
  const present = cores.filter((core) => core !== "")
  if (present.length === 0) return cores.map(() => "")
  const say = (text: string) => inAlphabet(phonemize(text, language), language)
  const spoken = divided(
    say(present.join(" ")),
    present.map((core) => say(core))
  )
  let next = 0
  return cores.map((core) => (core === "" ? "" : (spoken[next++] ?? "")))
}

/**
 * Divides what words sound like together among them. espeak-ng draws words together ("of the") and reads others as
 * several ("1984"), so each part goes to the word that it resembles, by the cheapest way to edit one into the other.
 */
export const divided = (together: string, alone: ReadonlyArray<string>): ReadonlyArray<string> => {
  const letters = alone.flatMap((text, word) => [...text, " "].map((letter) => ({ letter, word })))
  const target = [...together]
  const width = letters.length + 1
  const cost = new Float64Array((target.length + 1) * width)
  const at = (row: number, column: number) => row * width + column
  for (let row = 0; row <= target.length; row++) {
    for (let column = 0; column < width; column++) {
      if (row === 0 || column === 0) {
        cost[at(row, column)] = row + column
        continue
      }
      const isSame = target[row - 1] === letters[column - 1]?.letter
      cost[at(row, column)] = Math.min(
        cost[at(row - 1, column - 1)]! + (isSame ? 0 : 1.5),
        cost[at(row - 1, column)]! + 1,
        cost[at(row, column - 1)]! + 1
      )
    }
  }
  const owners = Array.from({ length: target.length }, () => 0)
  let [row, column] = [target.length, letters.length]
  while (row > 0) {
    const isSame = column > 0 && target[row - 1] === letters[column - 1]?.letter
    const here = cost[at(row, column)]!
    const owner = letters[Math.max(0, column - 1)]?.word ?? 0
    if (column > 0 && here === cost[at(row - 1, column - 1)]! + (isSame ? 0 : 1.5)) {
      owners[row - 1] = owner
      row -= 1
      column -= 1
    } else if (here === cost[at(row - 1, column)]! + 1) {
      owners[row - 1] = owner
      row -= 1
    } else column -= 1
  }
  return alone.map((_, word) =>
    target
      .filter((_, index) => owners[index] === word)
      .join("")
      .trim()
  )
}

type Rewrites = ReadonlyArray<readonly [from: RegExp, to: string]>

const dot = "\u0329"
const tilde = "\u0303"

const english: Rewrites = [
  [new RegExp(`ʔˌn${dot}|ʔn${dot}|ʔn`, "gu"), "tn"],
  [/ʔ/gu, "t"],
  [/a\^ɪ/gu, "I"],
  [/a\^ʊ/gu, "W"],
  [/d\^ʒ/gu, "ʤ"],
  [/e\^ɪ|e(?!\^)/gu, "A"],
  [/t\^ʃ/gu, "ʧ"],
  [/ɔ\^ɪ/gu, "Y"],
  [/ə\^l/gu, "ᵊl"],
  [/ʲ(?=[oə])/gu, "j"],
  [/ʲ/gu, ""],
  [/ɚ/gu, "əɹ"],
  [/r/gu, "ɹ"],
  [/[xç]/gu, "k"],
  [/ɐ/gu, "ə"],
  [/ɬ/gu, "l"],
  [new RegExp(tilde, "gu"), ""],
  [new RegExp(`(\\S)${dot}`, "gu"), "ᵊ$1"]
]
const american: Rewrites = [
  [/o\^ʊ/gu, "O"],
  [/ɜːɹ|ɜː/gu, "ɜɹ"],
  [/ɪə/gu, "iə"],
  [/ː/gu, ""],
  [/ɾ/gu, "T"]
]
const british: Rewrites = [
  [/e\^ə/gu, "ɛː"],
  [/iə/gu, "ɪə"],
  [/ə\^ʊ/gu, "Q"]
]
/** Of the languages whose phonemes Kokoro learned from espeak-ng. */
const others: Rewrites = [
  [/a\^ɪ/gu, "I"],
  [/a\^ʊ/gu, "W"],
  [/d\^z/gu, "ʣ"],
  [/d\^ʒ/gu, "ʤ"],
  [/e\^ɪ/gu, "A"],
  [/o\^ʊ/gu, "O"],
  [/ə\^ʊ/gu, "Q"],
  [/s\^s/gu, "S"],
  [/t\^s/gu, "ʦ"],
  [/t\^ʃ/gu, "ʧ"],
  [/ɔ\^ɪ/gu, "Y"],
  [/-/gu, ""]
]

const rewritesOf = (language: string): ReadonlyArray<Rewrites> => {
  if (language === "en-us") return [english, american]
  return language === "en" || language.startsWith("en-") ? [british.slice(0, 1), english, british.slice(1)] : [others]
}

/** Rewrites espeak-ng's phonemes into Kokoro's. The marks by which espeak-ng changes its language are left out. */
export const inAlphabet = (phonemes: string, language: string): string =>
  rewritesOf(language)
    .flat()
    .reduce((text, [from, to]) => text.replace(from, to), phonemes.replace(/\([a-z-]{2,8}\)/gu, ""))
    .replaceAll("^", "")
    .replaceAll(/\s+/gu, " ")
    .trim()
