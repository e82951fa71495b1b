/**
 * espeak-ng's own names for phonemes, which it reads between [[ and ]]. They differ from language to language: "a" is
 * the vowel of "cat" in American English and of "Katze" in German. So each language is asked how it sounds each name,
 * once, and the answers are turned round. Pure, but for the function that speaks for espeak-ng.
 */
import { decomposed, namedSounds, readIpa } from "../../phonemes/ipa.ts"

/** How espeak-ng's present voice sounds this text, as IPA; names between [[ and ]] are read as such. */
export type Sounds = (text: string) => string

const consonants =
  'p b t d k g q ? m n N n^ n. l L l. l^ r R r- R2 r" r. R^ * ** f v T D s z S Z C x X Q Q" h j w w# B J c J^ s. z. S; Z; s; ' +
  "z; v# l# tS dZ ts dz tS; dZ; pF ts; dz; ts. t. d. sx t; d; m; n; p; b; k; g; r; l; v; f; tsh th ph kh m- n- l- N- D;"
const vowels =
  '@ a A A: a: aa E E: e e: I I: i i: i: O O: o o: U u u: V V# 3: 3 0 @: y y: Y Y: W W: 8 u- i" u" 1 & I# I2 I^ M a# e/ o/ ' +
  "i/ a/ aI aU eI oU @U OI OY EI EU e@ i@ i@3 U@ o@ O@ A@ aI@ aI3 aU@ IR VR oI eU iU uI ai au ei oi ou ja ju jo A~ O~ W~ E~ " +
  "I~ U~ V~ &~ &U~ oI~ o~ a~ e~ i~ u~ I@ @L Y2 Wy VU uo ie Q ei ui iu"

/** The phonemes of a language by their IPA, and the shortest of espeak-ng's names for each. */
export const mnemonicsOf = (sounds: Sounds): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const note = (heard: string | undefined, name: string) => {
    const read = heard === undefined ? undefined : readIpa(heard)
    if (read === undefined || "fault" in read || /[ .ˈˌ]/u.test(read.ipa) || names.has(read.ipa)) return
    names.set(read.ipa, name)
  }
  const say = (name: string) =>
    decomposed(name === "" ? "" : sounds(`[[${name}]]`))
      .replaceAll("^", "")
      .replaceAll("ˈ", "")
  const frames = [
    ["", "|a", consonants],
    // Languages change vowels at the end of a word, and some of them without stress.
    ["t|'", "|t", vowels],
    ["t|'a|t|", "|t", vowels],
    ["", "", vowels]
  ] as const
  for (const [left, right, all] of frames) {
    const [before, after] = [say(left.replace(/'$/u, "")), say(right.slice(1))]
    for (const name of all.split(" ")) note(between(say(left + name + right), before, after), name)
  }
  // A language that draws r to the vowel before it has no other r there, and callers leave its length and its kind open.
  for (const [ipa, name] of [...names].filter(([symbols]) => /^\P{M}ː?ɹ$/u.test(symbols))) {
    for (const vowel of [ipa.charAt(0), `${ipa.charAt(0)}ː`]) {
      for (const r of "ɹr") if (!names.has(vowel + r)) names.set(vowel + r, name)
    }
  }
  return names.set("ː", ":")
}

const between = (heard: string, before: string, after: string) =>
  heard.startsWith(before) && heard.endsWith(after) && heard.length > before.length + after.length
    ? heard.slice(before.length, heard.length - after.length)
    : undefined

const stresses = { "": "", ˈ: "'", ˌ: "," } as const

/** Canonical phonemes as espeak-ng reads them, with the marks around them. */
export const espeakPhonemes = (ipa: string, names: ReadonlyMap<string, string>): string => {
  const words = namedSounds(ipa, names).map((word) => word.map(({ name, stress }) => stresses[stress] + name).join("|"))
  return words.length === 0 ? "" : `[[${words.join(" ")}]]`
}
