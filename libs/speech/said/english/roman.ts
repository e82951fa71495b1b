/** Roman numerals, where a name or a heading asks for them. Pure. */
import { romanValue } from "../kinds/roman.ts"
import type { Kind } from "../language.ts"
import { previousCore, said, wordAt } from "../word.ts"

/** Names of rulers and popes: their number is an ordinal. */
const rulers = new Set(
  (
    "Henry Louis Elizabeth George Charles Edward James William Richard Mary Pius Paul John Benedict Leo Gregory Clement " +
    "Innocent Philip Napoleon Nicholas Catherine Alexander Frederick Ivan Peter Otto Ferdinand Francis Urban Sixtus Julius " +
    "Boniface Wilhelm Friedrich Ramesses Ramses Ptolemy Cleopatra Darius Xerxes Margrethe Harald Olav Gustav Carl Karl " +
    "Robert Malcolm Baldwin Albert Leopold Juan Felipe Alfonso Umberto Victor Emmanuel Akbar Murad Mehmed Selim Haakon"
  ).split(" ")
)

/** Headings and series: their number is a cardinal. */
const headings = new Set(
  (
    "chapter part act scene volume vol section book article appendix phase type class level title stage step figure fig table war " +
    "bowl grade rocky fantasy mark episode season unit module schedule annex amendment canto psalm tier division corps lesson " +
    "apollo saturn titan union factor game quest wing ii group category round"
  ).split(" ")
)

export const romanNumeral: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined) return undefined
  const [, numeral = "", tail = ""] = /^([IVXLCDM]{1,9}|[\u2160-\u2188]{1,3})(['’]s)?$/u.exec(word.core) ?? []
  if (numeral === "") return undefined
  const value = romanValue(numeral.normalize("NFKC"))
  if (value === undefined) return undefined
  const previous = previousCore(place)
  const isName = rulers.has(previous)
  const isHeading = headings.has(previous.toLowerCase()) && isTitled(previous, numeral)
  const isCentury = /^(?:century|centuries|dynasty|olympiad)$/iu.test(wordAt(place, 1)?.core ?? "")
  if (isCentury) return said(language.ordinal(String(value)))
  const text = isName ? `the ${language.ordinal(String(value))}` : language.cardinal(String(value))
  if (/[\u2160-\u2188]/u.test(numeral)) return said(text + tail)
  if (isName && isNumberOfName(numeral, wordAt(place, 1)?.core, word.trail + word.stop)) return said(text + tail)
  if (isHeading) return said(text + tail)
  // "Superman II", "Rocky IV": two letters or more behind a name; CD, MD, MC and DC are no numerals.
  const isSeries =
    /^[IVX]{2,5}$/u.test(numeral) && /^\p{Lu}\p{Ll}/u.test(previous) && !/^(?:An?|The|In|On|My)$/u.test(previous)
  return isSeries ? said(text + tail) : undefined
}

/** "Part I" counts, "the part I like" does not. */
const isTitled = (heading: string, numeral: string) => /^\p{Lu}/u.test(heading) || numeral.length > 1

/** "Charles I of England", but "Charles I think of". */
const isNumberOfName = (numeral: string, next: string | undefined, behind: string) =>
  numeral !== "I" ||
  next === undefined ||
  behind !== "" ||
  /^(?:of|was|and|is|reigned|ruled|died|became|had|married)$/u.test(next)
