/**
 * Phonemes in the International Phonetic Alphabet as callers write them, and their one canonical form: sounds, stress,
 * length and breaks, without ties, tones and detail that no engine here can make. Pure, and free of Effect, because
 * the threads of engines read it.
 */

const vowels = new Set("iyɨʉɯuɪʏʊeøɘɵɤoəɚɛœɜɝɞʌɔæɐaɶɑɒᵻᵿ")
const consonants = new Set("pbtdʈɖcɟkɡqɢʔmɱnɳɲŋɴʙrʀⱱɾɽɸβfvθðszʃʒʂʐçʝxɣχʁħʕhɦɬɮʋɹɻjɰlɭʎʟʍwɥʜʢʡɕʑɺɧʘǀǃǂǁɓɗʄɠʛɫ")
/** Nasal, syllabic, palatal, aspirated, rounded: the changes of a sound that some engine makes. */
const modifiers = new Set("\u0303\u0329ʲʰʷ")
const unheard = /^[\u0300-\u0302\u0304-\u0328\u032a-\u036fˠˤˀʱⁿˡᵊ˔˕˖˗˥˦˧˨˩↓↑↗↘ꜛꜜʼ]$/u
const breaks = new Set(".|‖‿-")
const otherSpellings: Readonly<Record<string, string>> = {
  g: "ɡ",
  ":": "ː",
  ˑ: "ː",
  "'": "ˈ",
  "’": "ˈ",
  ʦ: "ts",
  ʣ: "dz",
  ʧ: "tʃ",
  ʤ: "dʒ",
  ʨ: "tɕ",
  ʥ: "dʑ"
}

/** All that stands in canonical phonemes beside stress and breaks. */
export const ipaSymbols: ReadonlyArray<string> = [...vowels, ...consonants, ...modifiers, "ː"]

/** The canonical form, or the fault and its place in UTF-16 units. */
export type PhonemesRead = { readonly ipa: string } | { readonly fault: string; readonly at: number }

export const isVowel = (symbol: string): boolean => vowels.has(symbol)

export const readIpa = (written: string): PhonemesRead => {
  let ipa = ""
  let at = 0
  for (const character of written) {
    for (const part of decomposed(character)) {
      const longer = extended(ipa, otherSpellings[part] ?? part)
      if (longer === undefined) return { fault: `"${character}" is no phoneme of the IPA here`, at }
      ipa = longer
    }
    at += character.length
  }
  const canonical = ipa
    .replaceAll(/[ .]{2,}/gu, (run) => (run.includes(" ") ? " " : "."))
    .replaceAll(/^[ .]+|[ .]+$/gu, "")
  return hasSound(canonical) ? { ipa: canonical } : { fault: "it has no sound", at: 0 }
}

/** Letters apart from their marks, so that one sound is always the same characters. */
export const decomposed = (text: string): string => text.normalize("NFD").replaceAll("c\u0327", "ç")

const hasSound = (ipa: string) => Array.from(ipa).some((symbol) => vowels.has(symbol) || consonants.has(symbol))

/** Undefined for what is no IPA, or a mark without a sound before it. */
const extended = (before: string, symbol: string): string | undefined => {
  const [first = ""] = symbol
  if (vowels.has(first) || consonants.has(first)) return before + symbol
  if (symbol.trim() === "") return `${before} `
  if (breaks.has(symbol)) return `${before}.`
  if (symbol === "ˈ" || symbol === "ˌ") return before + symbol
  if (symbol === "\u0327" && before.endsWith("c")) return `${before.slice(0, -1)}ç`
  if (symbol === "˞") return /[əɜ]$/u.test(before) ? before.slice(0, -1) + (before.endsWith("ə") ? "ɚ" : "ɝ") : before
  if (symbol === "ː" || modifiers.has(symbol)) return /(?:^|[ .ˈˌ])$/u.test(before) ? undefined : before + symbol
  return unheard.test(symbol) ? before : undefined
}

/** A sound by its name in some engine's alphabet, with the stress of its syllable if it is its vowel. */
export interface NamedSound {
  readonly name: string
  readonly stress: "" | "ˈ" | "ˌ"
}

/**
 * The sounds of canonical phonemes, word by word, by the names that an engine has for them: the longest match wins, so
 * that a diphthong is one sound; a sound that the engine lacks becomes the nearest that it has. A word without any
 * stress gets it on its first full vowel.
 */
export const namedSounds = (
  ipa: string,
  names: ReadonlyMap<string, string>
): ReadonlyArray<ReadonlyArray<NamedSound>> =>
  ipa
    .split(" ")
    .map((word) => stressed(soundsOfWord(word, names)))
    .filter((sounds) => sounds.length > 0)

const soundCharactersMax = 6

interface FoundSound extends NamedSound {
  readonly symbols: string
}

const soundsOfWord = (word: string, names: ReadonlyMap<string, string>): ReadonlyArray<FoundSound> => {
  const found: Array<FoundSound> = []
  let stress: NamedSound["stress"] = ""
  const add = (symbols: string, name: string) => {
    const bears = isVowel(symbols.charAt(0)) || symbols.includes("\u0329")
    found.push({ symbols, name, stress: bears ? stress : "" })
    if (bears) stress = ""
  }
  for (let at = 0; at < word.length;) {
    const symbol = word.charAt(at)
    if (symbol === "ˈ" || symbol === "ˌ") {
      stress = symbol
      at += 1
      continue
    }
    const length = longestName(word.slice(at, at + soundCharactersMax), names)
    if (length > 0) add(word.slice(at, at + length), names.get(word.slice(at, at + length)) ?? "")
    else for (const [symbols, name] of substitute(symbol, names)) add(symbols, name)
    at += Math.max(1, length)
  }
  return found
}

const longestName = (text: string, names: ReadonlyMap<string, string>) => {
  for (let length = text.length; length > 0; length -= 1) if (names.has(text.slice(0, length))) return length
  return 0
}

/** Nothing for a mark of a sound that was found without it. */
const substitute = (symbol: string, names: ReadonlyMap<string, string>): ReadonlyArray<readonly [string, string]> => {
  for (const other of (nearest[symbol] ?? "").split(" ")) {
    const parts = other.split("+").map((part) => [part, names.get(part)] as const)
    if (parts.every(([, name]) => name !== undefined)) return parts.map(([part, name]) => [part, name ?? ""])
  }
  return []
}

const stressed = (sounds: ReadonlyArray<FoundSound>): ReadonlyArray<NamedSound> => {
  const full = sounds.findIndex(({ symbols }) => isVowel(symbols.charAt(0)) && !/^[əᵻᵿɐ]/u.test(symbols))
  const isStressed = sounds.some(({ stress }) => stress !== "")
  return sounds.map(({ name, stress }, index) => ({ name, stress: !isStressed && index === full ? "ˈ" : stress }))
}

/** For a sound that a language lacks, the nearest ones, the best first. `+` joins two that stand for it together. */
const nearest: Readonly<Record<string, string>> = {
  i: "iː ɪ",
  y: "yː uː u",
  ɨ: "ɪ i",
  ʉ: "uː u",
  ɯ: "u uː",
  u: "uː ʊ",
  ɪ: "i iː",
  ʏ: "y yː ʊ u",
  ʊ: "u uː",
  e: "eː ɛ eɪ",
  ø: "øː œ ɜː ɛ",
  ɘ: "ə ɛ e",
  ɵ: "ø ə o",
  ɤ: "ʌ o oː",
  o: "oː ɔ oʊ əʊ",
  ə: "ɐ ɛ e a",
  ɚ: "ə+ɹ ə+r ɛ+r e+r",
  ɛ: "e eː",
  œ: "ø øː ɜː ɛ e",
  ɜ: "ɜː œ ə ɛ e",
  ɝ: "ɜː+ɹ ɜː ə+r ɛ+r e+r",
  ɞ: "œ ə ɔ o",
  ʌ: "ɐ a ɑ",
  ɔ: "o ɔː oː",
  æ: "a ɛ",
  ɐ: "a ʌ ə",
  a: "aː ɑ ɑː æ",
  ɶ: "œ a æ",
  ɑ: "ɑː a aː",
  ɒ: "ɔ ɑː o a",
  ᵻ: "ɪ i",
  ᵿ: "ʊ u",
  ʈ: "t",
  ɖ: "d",
  c: "tʲ k",
  ɟ: "dʲ ɡ",
  q: "k",
  ɢ: "ɡ",
  ʔ: "t",
  ɱ: "m",
  ɳ: "n",
  ɲ: "n+j n",
  ŋ: "n",
  ɴ: "ŋ n",
  ʙ: "b",
  r: "ɾ ɹ ʁ",
  ʀ: "ʁ r ɹ",
  ⱱ: "v",
  ɾ: "r ɹ",
  ɽ: "ɾ r ɹ",
  ɸ: "f",
  β: "v b",
  θ: "s",
  ð: "z d",
  ʂ: "ʃ s",
  ʐ: "ʒ z",
  ʒ: "ʃ",
  ç: "ʃ x",
  ʝ: "j",
  x: "χ h k",
  ɣ: "ɡ",
  χ: "x h",
  ʁ: "ʀ r ɹ",
  ħ: "h",
  ʕ: "ʔ",
  ɦ: "h",
  ɬ: "l",
  ɮ: "l",
  ʋ: "v w",
  ɹ: "r ɾ ʁ",
  ɻ: "ɹ r",
  ɰ: "w ɣ",
  ɭ: "l",
  ʎ: "l+j l",
  ʟ: "l",
  ʍ: "w v",
  w: "u v",
  j: "i",
  ɥ: "j w",
  ʜ: "h",
  ʢ: "ʔ",
  ʡ: "ʔ",
  ɕ: "ʃ s",
  ʑ: "ʒ z",
  ɺ: "ɾ l",
  ɧ: "ʃ",
  ʘ: "p",
  ǀ: "t",
  ǃ: "k",
  ǂ: "k",
  ǁ: "l",
  ɓ: "b",
  ɗ: "d",
  ʄ: "ɟ d",
  ɠ: "ɡ",
  ʛ: "ɡ",
  ɫ: "l"
}
