/**
 * flite's voices are English and read ASCII. Every UTF-16 unit becomes exactly one character, so that positions
 * stay what they are: letters lose their marks, typographic signs become plain ones, the rest is a space.
 */
const plain: Readonly<Record<string, string>> = {
  "‘": "'",
  "’": "'",
  "“": '"',
  "”": '"',
  "–": "-",
  "—": ",",
  "…": ".",
  ß: "s",
  æ: "a",
  œ: "o",
  ø: "o",
  ł: "l",
  đ: "d",
  "€": "E",
  "£": "L"
}

export const plainAscii = (text: string): string => {
  let ascii = ""
  for (let at = 0; at < text.length; at++) ascii += plainUnit(text.charAt(at))
  return ascii
}

const plainUnit = (unit: string) => {
  if (unit >= " " && unit <= "~") return unit
  const known = plain[unit]
  if (known !== undefined) return known
  const base = unit.normalize("NFKD").charAt(0)
  return base >= "!" && base <= "~" ? base : " "
}
