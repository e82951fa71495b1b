/** X-SAMPA, the IPA in ASCII: each symbol and its letter. Pure. */
import { type PhonemesRead, readIpa } from "./ipa.ts"

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
  // All letters are of the IPA, so only a mark without a sound before it is left; its place is not the same there.
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
