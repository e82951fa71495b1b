/**
 * The shapes of the mouth by which sounds are seen: the 22 of SAPI 5 (SPVISEMES), which Azure numbers the same. SAPI
 * lists the phonemes of American English; other sounds have the number of those that are made at the same place. Pure.
 */
const shapes: ReadonlyArray<readonly [viseme: number, sounds: string]> = [
  [1, "æ ə ʌ a ɐ ɘ"],
  [2, "ɑ ɶ"],
  [3, "ɔ ɒ"],
  [4, "ɛ e eɪ ʊ ø œ ʏ ɵ ᵿ"],
  [5, "ɝ ɜ ɚ ɞ"],
  [6, "j i ɪ y ɨ ᵻ ɥ ʝ ʎ ɲ c ɟ ç"],
  [7, "w u ʉ ɯ ʍ"],
  [8, "o oʊ əʊ ɤ"],
  [9, "aʊ"],
  [10, "ɔɪ"],
  [11, "aɪ"],
  [12, "h ɦ ħ ʕ ʔ ʜ ʢ ʡ"],
  [13, "ɹ r ɾ ɻ ɽ ɺ"],
  [14, "l ɫ ɭ ʟ ɬ ɮ"],
  [15, "s z ts dz"],
  [16, "ʃ tʃ dʒ ʒ ʂ ʐ ɕ ʑ tɕ dʑ ɧ"],
  [17, "ð θ"],
  [18, "f v ʋ ɱ ⱱ"],
  [19, "d t n ʈ ɖ ɳ"],
  [20, "k ɡ ŋ x ɣ q ɢ ɴ χ ʁ ʀ ɰ"],
  [21, "p b m β ɸ ʙ"]
]
const numbers = new Map(
  shapes.flatMap(([viseme, sounds]) => sounds.split(" ").map((sound) => [sound, viseme] as const))
)
/** The visemes of a phoneme in IPA, in order; at rest for one that is unknown. */
export const visemesOf = (phoneme: string): ReadonlyArray<number> => {
  const bare = phoneme.normalize("NFD").replaceAll(/[ːˈˌˑʰʲʷ\p{M}]/gu, "")
  const whole = numbers.get(bare)
  if (whole !== undefined) return [whole]
  const parts = Array.from(bare, (sound) => numbers.get(sound)).filter((viseme) => viseme !== undefined)
  return parts.length === 0 ? [0] : parts
}
