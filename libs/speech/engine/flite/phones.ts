/** A text as flite gets it: words with phonemes of their own become a letter that stands for flite's phones. Pure. */
import type { Pronunciation } from "#speech/contract"
import { namedSounds } from "../../phonemes/ipa.ts"

/** The phones of American English, by their IPA; a vowel's stress is a digit behind its name. */
const pairs =
  "ɑː aa|ɑ aa|ɒ aa|æ ae|ʌ ah|ɔː ao|ɔ ao|aʊ aw|ə ax|ɐ ax|aɪ ay|ɛ eh|ɜː er|ɜːɹ er|ɜɹ er|ɝ er|ɚ er|əɹ er|eɪ ey|ɪ ih|ᵻ ih|iː iy|i iy|oʊ ow|" +
  "əʊ ow|ɔɪ oy|ʊ uh|uː uw|u uw|b b|tʃ ch|d d|ð dh|f f|ɡ g|h hh|dʒ jh|k k|l l|m m|n n|ŋ ng|p p|ɹ r|r r|s s|ʃ sh|t t|θ th|v v|w w|j y|z z|ʒ zh"
const names: ReadonlyMap<string, string> = new Map(
  pairs.split("|").map((pair) => pair.split(" ") as [ipa: string, phone: string])
)
const vowels = new Set("aa ae ah ao aw ax ay eh er ey ih iy ow oy uh uw".split(" "))

/** Canonical IPA as flite's phones; empty if it has no sound that flite knows. */
export const flitePhones = (ipa: string): string =>
  namedSounds(ipa, names)
    .flat()
    .map(({ name, stress }) => (vowels.has(name) ? `${name}${stress === "" ? 0 : 1}` : name))
    .join(" ")

const told = new Map(
  pairs
    .split("|")
    .map((pair) => pair.split(" ") as [ipa: string, phone: string])
    .filter(([ipa]) => !/ː|^(?:[ɒɐᵻr]|ɜɹ|ɚ|əɹ|əʊ)$/u.test(ipa))
    .map(([ipa, phone]) => [phone, ipa] as const)
)

/** A phone in IPA; empty for a pause. */
export const ipaOfPhone = (phone: string): string => told.get(phone) ?? ""

export interface PhonesOfToken {
  /** The token's position in the text. */
  readonly at: number
  readonly phones: string
}

interface Pronounced {
  readonly ascii: string
  readonly tokens: ReadonlyArray<PhonesOfToken>
}

/**
 * flite does not know this word, and so treats it as one that carries the meaning of its sentence, as names do: it is
 * not weakened.
 */
const letter = "q"

/**
 * The text keeps its length, so that every position stays valid; the letter is at the word's end, before any
 * punctuation.
 */
export const withPhones = (ascii: string, pronunciations: ReadonlyArray<Pronunciation>): Pronounced => {
  const tokens: Array<PhonesOfToken> = []
  let masked = ascii
  for (const { from, to, ipa } of pronunciations) {
    const phones = flitePhones(ipa)
    if (phones === "" || to <= from || to > ascii.length) continue
    masked = `${masked.slice(0, from)}${letter.padStart(to - from)}${masked.slice(to)}`
    // Two tokens in a row with the same phones would count as one word, so every second one is written differently.
    tokens.push({ at: to - 1, phones: tokens.length % 2 === 0 ? phones : ` ${phones}` })
  }
  return { ascii: masked, tokens }
}
