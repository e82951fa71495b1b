/** English abbreviations in full. Those that may end a sentence keep its full stop where the next word begins one. */

const always: Readonly<Record<string, string>> = {
  "mr.": "Mister",
  "mrs.": "Missus",
  "ms.": "Miz",
  "dr.": "Doctor",
  "prof.": "Professor",
  "rev.": "Reverend",
  "gen.": "General",
  "col.": "Colonel",
  "capt.": "Captain",
  "lt.": "Lieutenant",
  "sgt.": "Sergeant",
  "gov.": "Governor",
  "sen.": "Senator",
  "rep.": "Representative",
  "mt.": "Mount",
  "vs.": "versus",
  vs: "versus",
  "e.g.": "for example",
  "i.e.": "that is",
  "cf.": "compare",
  "approx.": "approximately",
  "w/": "with",
  "w/o": "without",
  mr: "Mister",
  mrs: "Missus",
  dr: "Doctor"
}

const perhapsLast: Readonly<Record<string, string>> = {
  "etc.": "et cetera",
  "inc.": "Incorporated",
  "ltd.": "Limited",
  "co.": "Company",
  "corp.": "Corporation",
  "jr.": "Junior",
  "sr.": "Senior",
  "dept.": "Department",
  "ave.": "Avenue",
  "blvd.": "Boulevard",
  "rd.": "Road",
  "est.": "established",
  "hrs.": "hours",
  "min.": "minutes",
  "max.": "maximum"
}

const numbered: Readonly<Record<string, string>> = {
  "no.": "number",
  "nos.": "numbers",
  "fig.": "figure",
  "vol.": "volume",
  "p.": "page",
  "pp.": "pages",
  "ch.": "chapter",
  "sec.": "section"
}

/** `next` is the following word, empty at the end. */
export const spokenAbbreviation = (word: string, next: string): string | undefined => {
  if (word.length > 8) return undefined
  const key = word.toLowerCase()
  const isNameNext = /^\p{Lu}/u.test(next)
  // After a name it is a street, before one a saint; of "Dr." only the doctor is taken, as the commoner.
  if (key === "st.") return isNameNext ? "Saint" : `Street${next === "" ? "." : ""}`
  if (Object.hasOwn(numbered, key)) return /^\d/u.test(next) ? numbered[key] : undefined
  if (Object.hasOwn(always, key)) return /^[a-z]/u.test(word) && isTitle(key) ? undefined : always[key]
  if (!Object.hasOwn(perhapsLast, key)) return undefined
  return `${perhapsLast[key]}${next === "" || isNameNext ? "." : ""}`
}

/** Titles are written with a capital; "col." may be a column and "mr" nothing at all. */
const isTitle = (key: string) => /^(?:mrs?|ms|dr|prof|rev|gen|col|capt|lt|sgt|gov|sen|rep|mt)\.?$/u.test(key)
