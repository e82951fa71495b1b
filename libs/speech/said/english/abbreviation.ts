/** English abbreviations in full. One that can end a sentence keeps its full stop if the next word starts one. Pure. */
import type { Kind } from "../language.ts"
import { mayEndSentence, type Place, previousCore, wordAt, type Word } from "../word.ts"

/** Titles are capitalised, and a name follows. */
const titles: Readonly<Record<string, string>> = {
  mr: "Mister",
  mrs: "Missus",
  ms: "Miz",
  dr: "Doctor",
  prof: "Professor",
  rev: "Reverend",
  hon: "Honorable",
  gen: "General",
  col: "Colonel",
  maj: "Major",
  capt: "Captain",
  cpt: "Captain",
  cmdr: "Commander",
  adm: "Admiral",
  lt: "Lieutenant",
  sgt: "Sergeant",
  cpl: "Corporal",
  gov: "Governor",
  sen: "Senator",
  rep: "Representative",
  pres: "President",
  supt: "Superintendent",
  mt: "Mount",
  ft: "Fort",
  st: "Saint"
}

/** In the middle of a sentence only. */
const always: Readonly<Record<string, string>> = {
  "vs.": "versus",
  vs: "versus",
  "e.g.": "for example",
  "i.e.": "that is",
  "cf.": "compare",
  "viz.": "namely",
  "approx.": "approximately",
  "p.o.": "P O",
  "p.a.": "per annum",
  "incl.": "including",
  "excl.": "excluding",
  "ref.": "reference",
  "qty.": "quantity",
  qty: "quantity",
  "acct.": "account",
  acct: "account",
  "conf.": "confirmation",
  msg: "message",
  "ea.": "each",
  "appt.": "appointment",
  "pts.": "points",
  pts: "points",
  "pcs.": "pieces",
  pcs: "pieces",
  "bal.": "balance",
  addr: "address",
  "addr.": "address",
  "exp.": "expires",
  "pop.": "population",
  thx: "thanks",
  pls: "please",
  btw: "by the way",
  brb: "be right back",
  idk: "I don't know",
  tmrw: "tomorrow",
  yrs: "years",
  hwy: "Highway",
  rte: "Route",
  "ca.": "circa",
  "w/": "with",
  "w/o": "without",
  "b/c": "because",
  "a.k.a.": "also known as",
  aka: "also known as"
}

const perhapsLast: Readonly<Record<string, string>> = {
  "etc.": "et cetera",
  etc: "et cetera",
  "inc.": "Incorporated",
  "ltd.": "Limited",
  "co.": "Company",
  "corp.": "Corporation",
  "bros.": "Brothers",
  "jr.": "Junior",
  "sr.": "Senior",
  "dept.": "Department",
  "univ.": "University",
  "assn.": "Association",
  "est.": "established",
  "hrs.": "hours",
  "mi.": "miles",
  "yrs.": "years",
  "mo.": "months",
  "mos.": "months",
  "yr.": "year",
  "wk.": "week",
  "wks.": "weeks",
  "mins.": "minutes",
  "hr.": "hour",
  "min.": "minutes",
  "max.": "maximum",
  "sec.": "seconds",
  "ext.": "extension",
  "apt.": "apartment",
  "tel.": "telephone",
  "al.": "al",
  "esq.": "Esquire",
  "ph.d.": "P H D",
  "m.d.": "M D",
  "b.a.": "B A",
  "p.s.": "P S",
  "r.s.v.p.": "R S V P",
  "lbs.": "pounds",
  "lb.": "pounds",
  "oz.": "ounces",
  "tbsp.": "tablespoons",
  "tsp.": "teaspoons",
  "gal.": "gallons"
}

/** Before a number. */
const numbered: Readonly<Record<string, string>> = {
  no: "number",
  nos: "numbers",
  fig: "figure",
  figs: "figures",
  vol: "volume",
  vols: "volumes",
  p: "page",
  pp: "pages",
  ch: "chapter",
  sec: "section",
  art: "article",
  eq: "equation",
  eqs: "equations",
  op: "opus",
  prop: "proposition",
  ext: "extension",
  apt: "apartment",
  ste: "suite",
  rm: "room",
  pg: "page"
}

/** Behind a name: streets, and what lies along them. */
const streets: Readonly<Record<string, string>> = {
  st: "Street",
  dr: "Drive",
  ave: "Avenue",
  blvd: "Boulevard",
  rd: "Road",
  ln: "Lane",
  ct: "Court",
  pl: "Place",
  hwy: "Highway",
  pkwy: "Parkway",
  sq: "Square",
  expy: "Expressway",
  ter: "Terrace"
}

/** As the post shortens them, behind a town and a comma. */
const postal: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,CT Connecticut,DE Delaware,FL Florida,GA Georgia," +
    "HI Hawaii,ID Idaho,IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland," +
    "MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,NV Nevada,NH New Hampshire," +
    "NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon," +
    "PA Pennsylvania,RI Rhode Island,SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia," +
    "WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming"
  )
    .split(",")
    .map((pair) => [pair.slice(0, 2), pair.slice(3)])
)

/** As newspapers shorten them, behind a town and a comma. */
const states: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "Ala Alabama,Ariz Arizona,Ark Arkansas,Calif California,Colo Colorado,Conn Connecticut,Del Delaware,Fla Florida,Ga Georgia," +
    "Ill Illinois,Ind Indiana,Kan Kansas,Ky Kentucky,La Louisiana,Md Maryland,Mass Massachusetts,Mich Michigan,Minn Minnesota," +
    "Miss Mississippi,Mo Missouri,Mont Montana,Neb Nebraska,Nev Nevada,Okla Oklahoma,Ore Oregon,Pa Pennsylvania,Tenn Tennessee," +
    "Tex Texas,Vt Vermont,Va Virginia,Wash Washington,Wis Wisconsin,Wyo Wyoming"
  )
    .split(",")
    .map((pair) => pair.split(" ") as [string, string])
)

const directions: Readonly<Record<string, string>> = {
  NW: "Northwest",
  NE: "Northeast",
  SW: "Southwest",
  SE: "Southeast",
  N: "North",
  S: "South",
  E: "East",
  W: "West"
}

export const abbreviation: Kind = (place) => {
  const word = wordAt(place)
  if (word === undefined || word.core.length > 8) return undefined
  return (
    street(place, word) ??
    title(place, word) ??
    number(place, word) ??
    ofParty(word) ??
    other(place, word) ??
    direction(place, word)
  )
}

/** "D-Mass." */
const ofParty = ({ core }: Word) => {
  const [, party, state = ""] = /^([DRI])-(\p{L}{2,6})$/u.exec(core) ?? []
  return party === undefined || !Object.hasOwn(states, state)
    ? undefined
    : { parts: [`${party} ${states[state]}`], takesStop: true }
}

const isName = (core: string | undefined) => core !== undefined && /^\p{Lu}/u.test(core)

/** "Elm Dr.", "42 Main St": behind a name, or behind a number and a name; nothing that it titles follows. */
const street = (place: Place, word: Word) => {
  const key = word.core.toLowerCase()
  const name = Object.hasOwn(streets, key) ? streets[key] : undefined
  const before = wordAt(place, -1)
  if (name === undefined || before === undefined || before.stop !== "" || before.trail !== "" || word.lead !== "")
    return undefined
  const isBehindName = /^\p{Lu}/u.test(word.core) && (isName(before.core) || /^\d+(?:st|nd|rd|th)$/u.test(before.core))
  if (!isBehindName || (word.stop === "" && key.length < 3 && !isAddressed(place))) return undefined
  const next = wordAt(place, 1)
  const isTitle =
    Object.hasOwn(titles, key) &&
    isName(next?.core) &&
    word.trail === "" &&
    !isAddressed(place) &&
    !isDirection(next?.core)
  if (isTitle) return undefined
  const endsSentence = word.trail === "" && isName(next?.core) && !isDirection(next?.core)
  return { parts: [name], takesStop: next !== undefined && !endsSentence }
}

/** A number stands within three words before: "1600 Pennsylvania Ave". */
const isAddressed = (place: Place) =>
  [-2, -3, -4].some((offset) => /^\d{1,5}[A-Za-z]?$/u.test(wordAt(place, offset)?.core ?? ""))

const isDirection = (core: string | undefined) => core !== undefined && Object.hasOwn(directions, core)

const title = (place: Place, word: Word) => {
  const key = word.core.toLowerCase()
  const name = Object.hasOwn(titles, key) ? titles[key] : undefined
  if (name === undefined || !/^\p{Lu}/u.test(word.core)) return undefined
  const isNamed = isName(wordAt(place, 1)?.core) && word.trail === ""
  if (word.stop === "." ? isNamed || key.length > 2 : isNamed && /^(?:mr|mrs|ms|dr)$/u.test(key)) {
    return { parts: [name], takesStop: true }
  }
  return word.stop === "." && /^(?:dr|mr|mrs|ms)$/u.test(key)
    ? { parts: [name], takesStop: wordAt(place, 1) !== undefined }
    : undefined
}

const number = (place: Place, word: Word) => {
  const key = word.core.toLowerCase()
  const name = Object.hasOwn(numbered, key) ? numbered[key] : undefined
  const next = wordAt(place, 1)
  if (
    name === undefined ||
    next === undefined ||
    !/^[#\dIVXA-Z]/u.test(next.core) ||
    !/\d|^[IVX]{2,}$|^[A-HJ-Z]$/u.test(next.core)
  )
    return undefined
  if (word.stop === "" && !/^(?:pp|ext|apt|fig|vol|ste|rm|pg|ch)$/u.test(key)) return undefined
  return { parts: [name], takesStop: true }
}

const isCounted = (place: Place) => {
  const before = wordAt(place, -1)
  return before !== undefined && before.trail === "" && /\d$/u.test(before.core)
}

const other = (place: Place, word: Word) => {
  // "CA" is California and "MIN" shouted.
  const isShort = /^\p{Lu}{2,3}$/u.test(word.core)
  const key = isShort ? "" : `${word.core}${word.stop}`.toLowerCase()
  if (key === "min." && !isCounted(place)) return { parts: ["minimum"], takesStop: true }
  if (key === "incl." && previousCore(place) === "not")
    return { parts: ["included"], takesStop: !mayEndSentence(place) }
  if (key === "ed." && /(?:st|nd|rd|th)$/u.test(previousCore(place)))
    return { parts: ["edition"], takesStop: !mayEndSentence(place) }
  if (key === "c." && /^\d$|[¼-¾]$/u.test(previousCore(place)))
    return { parts: [previousCore(place) === "1" ? "cup" : "cups"], takesStop: true }
  if (key === "v." && isName(previousCore(place)) && isName(wordAt(place, 1)?.core))
    return { parts: ["versus"], takesStop: true }
  const isBehindTown = wordAt(place, -1)?.trail.endsWith(",") === true && isName(previousCore(place))
  if (Object.hasOwn(postal, word.core) && isBehindTown && !isName(wordAt(place, 1)?.core))
    return { parts: [postal[word.core] ?? ""] }
  if (
    Object.hasOwn(states, word.core) &&
    word.stop === "." &&
    (place.at === 0 || wordAt(place, -1)?.trail.endsWith(",") === true)
  ) {
    return { parts: [states[word.core] ?? ""], takesStop: !mayEndSentence(place) }
  }
  if (Object.hasOwn(always, key)) return { parts: [always[key] ?? ""], takesStop: true }
  const name = Object.hasOwn(perhapsLast, key) ? perhapsLast[key] : undefined
  if (name === undefined) return undefined
  const isOne = /^(?:an?|per)$/u.test(previousCore(place))
  return { parts: [isOne ? name.replace(/(?<=[a-z])s$/u, "") : name], takesStop: !mayEndSentence(place) }
}

const direction = (place: Place, word: Word) => {
  const name = isDirection(word.core) ? directions[word.core] : undefined
  if (name === undefined) return undefined
  const previous = previousCore(place).toLowerCase()
  const isBehindStreet =
    Object.hasOwn(streets, previous) || Object.values(streets).some((street) => street.toLowerCase() === previous)
  const next = wordAt(place, 1)?.core ?? ""
  const isBeforeStreet = (/^\d{1,5}[a-z]?$/u.test(previous) && isName(next)) || /^\d{1,3}(?:st|nd|rd|th)$/u.test(next)
  const isWay = word.core.length === 2 && /^(?:miles?|mi|km|kilometers?)$/u.test(previousCore(place))
  const isOfRoad =
    /^(?:I-\d{1,3}|\d{1,3})$/u.test(previousCore(place)) &&
    /^(?:hwy|highway|route|interstate|us|i-\d+)$/iu.test(wordAt(place, -2)?.core ?? "")
  return isBehindStreet || isBeforeStreet || isOfRoad || isWay
    ? { parts: [name], takesStop: word.stop !== "" && next !== "" }
    : undefined
}
