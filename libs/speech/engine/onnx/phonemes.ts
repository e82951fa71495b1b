/**
 * From text to the phonemes that Kokoro's models read, and where in them each word starts. espeak-ng says how words
 * sound; its phonemes are rewritten into Kokoro's alphabet, and punctuation, which affects the models, stays. Pure,
 * except for the function that calls espeak-ng.
 */
import type { Pronunciation } from "#speech/contract"
import { ipaSymbols, namedSounds } from "../../phonemes/ipa.ts"
import { vocabulary } from "./vocabulary.ts"

/** The phonemes of a clause in one language, by espeak-ng: IPA with `^` inside a single sound, spaces between words. */
export type Phonemize = (clause: string, language: string) => string

export interface Phonemes {
  /** Each is a symbol of the model's vocabulary. */
  readonly symbols: string
  /** Where each word starts, in the text and in the symbols. */
  readonly words: ReadonlyArray<{ readonly position: number; readonly symbol: number }>
}

interface Word {
  readonly position: number
  readonly before: string
  readonly core: string
  readonly after: string
  /** How the core of the word should sound. */
  readonly pronunciation: Pronunciation | undefined
}

/** Punctuation that a model reads; other marks are left out. */
const punctuation = /[;:,.!?—…"“”()]/gu
/** At these alone a model often does not pause: beside each, how many of 15 sentences had no silence of 60 ms. */
const pausing: ReadonlyArray<readonly [mark: RegExp, read: string]> = [
  // Ten.
  [/…/gu, "..."],
  // Eight.
  [/—|–|(?<!\S)-+(?!\S)/gu, ",—"],
  // Eight and three.
  [/;/gu, ",;"],
  [/:/gu, ",:"]
]
const words = /(\S+)(\s*)/gu
const spokenCharacter = /[\p{L}\p{N}$£€%&+@#]/gu
const spokenLetter = /[\p{L}\p{N}]/u
const endsClause = /[;:,.!?—–…)”"]/u

export const phonemesOf = (
  { text, pronunciations = [] }: { readonly text: string; readonly pronunciations?: ReadonlyArray<Pronunciation> },
  language: string,
  phonemize: Phonemize
): Phonemes => {
  const found: Array<{ readonly position: number; readonly symbol: number }> = []
  let symbols = ""
  for (const clause of clausesOf(text, pronunciations)) {
    const spoken = spokenWords(clause, language, phonemize)
    for (const [index, word] of clause.entries()) {
      const lead = symbols === "" || word.core === "" ? "" : " "
      symbols += lead + marksOf(word.before)
      if (word.core !== "") found.push({ position: word.position, symbol: symbols.length })
      symbols += (spoken[index] ?? "") + marksOf(word.after)
    }
  }
  return { symbols, words: found }
}

const marksOf = (text: string) =>
  (pausing.reduce((marks, [mark, read]) => marks.replace(mark, read), text).match(punctuation) ?? []).join("")

const clausesOf = (text: string, pronunciations: ReadonlyArray<Pronunciation>): ReadonlyArray<ReadonlyArray<Word>> => {
  // A pronounced stretch is one word, whatever it contains.
  let masked = text
  for (const { from, to } of pronunciations) masked = masked.slice(0, from) + "x".repeat(to - from) + masked.slice(to)
  const clauses: Array<ReadonlyArray<Word>> = []
  let clause: Array<Word> = []
  for (const match of masked.matchAll(words)) {
    const [{ before, after: written }, length] = marksAround(match[1] ?? "")
    const position = match.index + before.length
    // Within a sentence, a full stop behind letters belongs to an abbreviation.
    const isAbbreviation = /\p{L}$/u.test(text.slice(0, position + length)) && /^\.(?!\.)/u.test(written)
    const isWithin = spokenLetter.test(text.slice(match.index + match[0].length))
    const after = isAbbreviation && isWithin ? written.slice(1) : written
    const pronunciation = pronunciations.find(({ from }) => from >= position && from < position + length)
    clause.push({ position, before, core: text.slice(position, position + length), after, pronunciation })
    if (!endsClause.test(after) && !(length === 0 && endsClause.test(before))) continue
    clauses.push(clause)
    clause = []
  }
  return clause.length === 0 ? clauses : [...clauses, clause]
}

/** The marks before and after the spoken part of a word, and its length between them. */
const marksAround = (word: string) => {
  const first = word.search(spokenCharacter)
  if (first === -1) return [{ before: word, after: "" }, 0] as const
  let end = first
  for (const { index, 0: character } of word.matchAll(spokenCharacter)) end = index + character.length
  return [{ before: word.slice(0, first), after: word.slice(end) }, end - first] as const
}

/** The phonemes of each word of a clause, as they sound together. */
const spokenWords = (clause: ReadonlyArray<Word>, language: string, phonemize: Phonemize): ReadonlyArray<string> => {
  const say = (text: string) => inAlphabet(phonemize(text, language), language)
  const sayRest = (text: string) => (/[\p{L}\p{N}]/u.test(text) ? say(text) : "")
  // Words sound as they do beside their neighbours, so those before and after a pronounced one are spoken apart.
  const stretches: Array<Array<string>> = [[]]
  for (const { core, pronunciation } of clause) {
    if (pronunciation !== undefined) stretches.push([])
    else if (core !== "") stretches.at(-1)?.push(core)
  }
  const spoken = stretches.flatMap((cores) => (cores.length === 0 ? [] : divided(say(cores.join(" ")), cores.map(say))))
  let next = 0
  return clause.map(({ core, position, pronunciation }) => {
    if (core === "") return ""
    if (pronunciation === undefined) return spoken[next++] ?? ""
    const { from, to, ipa } = pronunciation
    return sayRest(core.slice(0, from - position)) + pronounced(ipa, language) + sayRest(core.slice(to - position))
  })
}

const drawnTogether = "aɪ aʊ dʒ dz eɪ eə oʊ əʊ tʃ ts ɔɪ".split(" ").map((sound) => [...sound].join("^"))
/** The American vowel of "bird", which has its r in Kokoro's alphabet. */
const long = ["ɜː", "ɜːɹ"]
const namesOf = new Map<string, ReadonlyMap<string, string>>()

/** Canonical IPA in Kokoro's alphabet, which merges some sounds. */
const pronounced = (ipa: string, language: string): string => {
  const names = namesOf.get(language) ?? namesIn(language)
  namesOf.set(language, names)
  const spoken = namedSounds(ipa, names).map((word) => word.map(({ name, stress }) => stress + name).join(""))
  return spoken.join(" ")
}

const namesIn = (language: string): ReadonlyMap<string, string> => {
  const sounds = [...ipaSymbols, ...drawnTogether, ...long]
  const names = sounds.map((sound) => [sound.replaceAll("^", ""), inAlphabet(sound, language)] as const)
  return new Map(names.filter(([, name]) => name !== "" && [...name].every((symbol) => vocabulary.has(symbol))))
}

/**
 * Divides the joint sound of several words among them. espeak-ng merges words ("of the") and reads others as several
 * ("1984"), so each part goes to the word that it resembles, by the smallest edit distance.
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
/** For the languages whose phonemes Kokoro learned from espeak-ng. */
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

/** What Kokoro writes as one letter. */
const written: Readonly<Record<string, string>> = {
  A: "eɪ",
  I: "aɪ",
  O: "oʊ",
  Q: "əʊ",
  S: "s",
  T: "ɾ",
  W: "aʊ",
  Y: "ɔɪ",
  ᵊ: "ə",
  ʣ: "dz",
  ʤ: "dʒ",
  ʦ: "ts",
  ʧ: "tʃ",
  ʨ: "tɕ",
  ꭧ: "tʂ"
}
const pausingSymbol = /^[;:,.!?—…"“”()]$/u
const stressSymbol = /^[ˈˌ]$/u
const modifierSymbol = /^(?:[ːʰʲᵝ↓→↗↘]|\u0303)$/u

interface Sound {
  /** Empty for a pause. */
  readonly ipa: string
  /** Where in the text its word starts, and where in the symbols it starts. */
  readonly position: number
  readonly symbol: number
}

/** The sounds of an utterance in IPA. A sound begins with the stress before it; between words it goes on. */
export const soundsOf = ({ symbols, words: begun }: Phonemes): ReadonlyArray<Sound> => {
  const sounds: Array<Sound> = []
  let [word, position, stressed] = [0, begun[0]?.position ?? 0, -1]
  for (let symbol = 0; symbol < symbols.length; symbol += 1) {
    while ((begun[word]?.symbol ?? Infinity) <= symbol) position = begun[word++]?.position ?? position
    const character = symbols.charAt(symbol)
    const last = sounds.at(-1)
    if (stressSymbol.test(character)) stressed = symbol
    else if (character === " ") continue
    else if (pausingSymbol.test(character)) {
      if (last?.ipa !== "") sounds.push({ ipa: "", position, symbol })
    } else if (modifierSymbol.test(character)) {
      if (last !== undefined) sounds[sounds.length - 1] = { ...last, ipa: last.ipa + character }
    } else {
      sounds.push({ ipa: written[character] ?? character, position, symbol: stressed === -1 ? symbol : stressed })
      stressed = -1
    }
  }
  return sounds
}
