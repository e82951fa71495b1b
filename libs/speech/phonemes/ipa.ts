/**
 * Phonemes as callers write them, in the International Phonetic Alphabet or in X-SAMPA, which is the IPA in ASCII; and
 * their one canonical form: sounds, stress, length and breaks, without ties, tones and detail that no engine here can
 * make. Pure, and free of Effect, because the threads of engines read it.
 */
const vowels = new Set("iyɨʉɯuɪʏʊeøɘɵɤoəɚɛœɜɝɞʌɔæɐaɶɑɒᵻᵿ")
const consonants = new Set("pbtdʈɖcɟkɡqɢʔmɱnɳɲŋɴʙrʀⱱɾɽɸβfvθðszʃʒʂʐçʝxɣχʁħʕhɦɬɮʋɹɻjɰlɭʎʟʍwɥʜʢʡɕʑɺɧʘǀǃǂǁɓɗʄɠʛɫ")
/** Nasal, syllabic, palatal, aspirated, rounded: the changes of a sound that some engine makes. */
const modifiers = new Set("\u0303\u0329ʲʰʷ")
const ignoredMark = /^[\u0300-\u0302\u0304-\u0328\u032a-\u036fˠˤˀʱⁿˡᵊ˔˕˖˗˥˦˧˨˩↓↑↗↘ꜛꜜʼ]$/u
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

/** Everything that canonical phonemes can contain beside stress and breaks. */
export const ipaSymbols: ReadonlyArray<string> = [...vowels, ...consonants, ...modifiers, "ː"]

/** The canonical form, or the fault and its position in UTF-16 units. */
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
    .replaceAll(/^[ .]|[ .]$/gu, "")
  return hasSound(canonical) ? { ipa: canonical } : { fault: "it has no sound", at: 0 }
}

/** Letters separated from their marks, so that one sound is always the same characters. */
export const decomposed = (text: string): string => text.normalize("NFD").replaceAll("c\u0327", "ç")

const hasSound = (ipa: string) => Array.from(ipa).some((symbol) => vowels.has(symbol) || consonants.has(symbol))

/** Undefined for anything that is not IPA, or a mark without a sound before it. */
const extended = (before: string, symbol: string): string | undefined => {
  const [first = ""] = symbol
  if (vowels.has(first) || consonants.has(first)) return before + symbol
  if (symbol.trim() === "") return `${before} `
  if (breaks.has(symbol)) return `${before}.`
  if (symbol === "ˈ" || symbol === "ˌ") return before + symbol
  if (symbol === "\u0327" && before.endsWith("c")) return `${before.slice(0, -1)}ç`
  if (symbol === "˞") return /[əɜ]$/u.test(before) ? before.slice(0, -1) + (before.endsWith("ə") ? "ɚ" : "ɝ") : before
  if (symbol === "ː" || modifiers.has(symbol)) return /(?:^|[ .ˈˌ])$/u.test(before) ? undefined : before + symbol
  return ignoredMark.test(symbol) ? before : undefined
}

/** A sound by its name in some engine's alphabet, with the stress of its syllable if it is its vowel. */
export interface NamedSound {
  readonly name: string
  readonly stress: "" | "ˈ" | "ˌ"
}

/**
 * The sounds of canonical phonemes, word by word, by an engine's names for them: the longest match wins, so that a
 * diphthong is one sound; a sound that the engine lacks becomes the nearest that it has. A word without any stress gets
 * it on its first full vowel.
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

/** For a sound that a language lacks, the nearest ones, the best first. `+` joins two that together replace it. */
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

/** Pairs, a symbol and its IPA. A space stands for itself. */
const pairs =
  "p p b b b_< ɓ c c d d d` ɖ d_< ɗ f f g ɡ g_< ɠ h h h\\ ɦ j j j\\ ʝ k k l l l` ɭ l\\ ɺ m m n n n` ɳ p\\ ɸ q q r r r` ɽ r\\ ɹ " +
  "r\\` ɻ s s s` ʂ s\\ ɕ t t t` ʈ v v v\\ ʋ P ʋ w w x x x\\ ɧ z z z` ʐ z\\ ʑ B β B\\ ʙ C ç D ð F ɱ G ɣ G\\ ɢ G\\_< ʛ H ɥ H\\ ʜ " +
  "J ɲ J\\ ɟ J\\_< ʄ K ɬ K\\ ɮ L ʎ L\\ ʟ M\\ ɰ N ŋ N\\ ɴ O\\ ʘ R ʁ R\\ ʀ S ʃ T θ W ʍ X χ X\\ ħ Z ʒ 4 ɾ 5 ɫ ? ʔ ?\\ ʕ " +
  "<\\ ʢ >\\ ʡ !\\ ǃ |\\ ǀ |\\|\\ ǁ =\\ ǂ " +
  "a a e e i i o o u u y y A ɑ E ɛ I ɪ I\\ ᵻ M ɯ O ɔ Q ɒ U ʊ U\\ ᵿ V ʌ Y ʏ @ ə @\\ ɘ @` ɚ { æ } ʉ 1 ɨ 2 ø 3 ɜ 3` ɝ 3\\ ɞ 6 ɐ 7 ɤ " +
  "8 ɵ 9 œ & ɶ " +
  "\" ˈ % ˌ : ː :\\ ˑ - . . . | | || ‖ -\\ ‿ _h ʰ _w ʷ _j ʲ ' ʲ _~ \u0303 ~ \u0303 = \u0329 _= \u0329 ` ˞ _> ʼ " +
  '_^ \u032f _0 \u0325 _v \u032c _d \u032a _a \u033a _m \u033b _o \u031e _r \u031d _+ \u031f _- \u0320 _" \u0308 _x \u033d _t \u0324 ' +
  "_k \u0330 _N \u033c _A \u0318 _q \u0319 _c \u031c _O \u0339 _G ˠ _?\\ ˤ _e \u0334 _n ⁿ _l ˡ _} \u031a _T ˥ _H ˦ _M ˧ _L ˨ _B ˩ _F ↘ _R ↗"

const letters = new Map<string, string>()
const listed = pairs.split(" ")
for (let at = 0; at + 1 < listed.length; at += 2) letters.set(listed[at] ?? "", listed[at + 1] ?? "")

const symbolCharactersMax = 5

export const readXSampa = (written: string): PhonemesRead => {
  let ipa = ""
  for (let at = 0; at < written.length;) {
    const symbol = symbolAt(written, at)
    if (symbol === "") {
      const [character = ""] = written.slice(at)
      return { fault: `"${character}" is no symbol of X-SAMPA`, at }
    }
    ipa += letters.get(symbol) ?? " "
    at += symbol.length
  }
  const read = readIpa(ipa)
  // All letters are IPA, so only a mark without a sound before it remains; its position differs there.
  return "fault" in read ? { fault: read.fault, at: 0 } : read
}

const symbolAt = (written: string, at: number) => {
  if (/\s/u.test(written.charAt(at))) return written.charAt(at)
  for (let length = symbolCharactersMax; length > 0; length -= 1) {
    const symbol = written.slice(at, at + length)
    if (letters.has(symbol)) return symbol
  }
  return ""
}
