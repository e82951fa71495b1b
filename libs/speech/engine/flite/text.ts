/** A text as flite reads it: in ASCII, and cut into utterances. */

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

/**
 * flite's voices are English and read ASCII. Every UTF-16 unit becomes exactly one character, so that positions stay
 * valid: letters lose their marks, typographic signs become plain ones, the rest becomes a space.
 */
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

export interface Span {
  readonly from: number
  readonly to: number
}

const lengthMin = 20
const lengthMax = 120
const sentenceEnd = /[.!?]["')\]]*\s+/gu

/**
 * Cuts a text for an engine that plans a whole utterance before its first sample and cannot be stopped meanwhile. It
 * cuts at the ends of sentences. Where there are none for long, it cuts after a clause, at a space, or within a text
 * that is no word anyway. 120 characters are planned in some 40 ms.
 */
export const utterances = (text: string): ReadonlyArray<Span> => {
  const ends = [...text.matchAll(sentenceEnd)].map((match) => match.index + match[0].length)
  const spans: Array<Span> = []
  let from = 0
  for (const to of [...ends, text.length]) {
    if (to < text.length && to - from < lengthMin) continue
    while (to - from > lengthMax) {
      const cut = cutWithin(text, from)
      spans.push({ from, to: cut })
      from = cut
    }
    if (to > from) spans.push({ from, to })
    from = to
  }
  return spans
}

const cutWithin = (text: string, from: number) => {
  const clause = text.lastIndexOf(", ", from + lengthMax - 2)
  if (clause > from + lengthMin) return clause + 2
  const space = text.lastIndexOf(" ", from + lengthMax - 1)
  return space > from ? space + 1 : from + lengthMax
}
