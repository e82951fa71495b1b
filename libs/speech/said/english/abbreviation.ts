/** English abbreviations in full: titles and streets share theirs, states follow a town, directions a street. Pure. */
import { abbreviation as inTable } from "../kinds/abbreviation.ts"
import type { Kind } from "../language.ts"
import { entriesOf, tableOf } from "../tables.ts"
import { mayEndSentence, type Place, previousCore, type Said, said, wordAt, type Word } from "../word.ts"

const titles = `
  mr. Mister; mr Mister; mrs. Missus; mrs Missus; ms. Miz; ms Miz; dr. Doctor; dr Doctor; prof. Professor; rev. Reverend; hon. Honorable; pres. President; supt. Superintendent
  gen. General; col. Colonel; maj. Major; capt. Captain; cpt. Captain; cmdr. Commander; adm. Admiral; lt. Lieutenant; sgt. Sergeant; cpl. Corporal; gov. Governor
  sen. Senator; rep. Representative; sens. Senators; reps. Representatives; mt. Mount; ft. Fort; st. Saint
`

const inTables = inTable({
  titles,
  number: /^[#\d]|^[A-Z].{0,11}\d|^(?!I$)[IVX]+$|^[A-HJ-Z]$/u,
  numbered: `
    no. number; nos. numbers; fig. figure; fig figure; figs. figures; vol. volume; vol volume; vols. volumes; p. page; pp. pages; pp pages; pg. page; pg page; ch. chapter; ch chapter; sec. section; art. article
    eq. equation; eqs. equations; op. opus; prop. proposition; ext. extension; ext extension; apt. apartment; apt apartment; ste. suite; ste suite; rm. room; rm room
  `,
  inside: `
    vs. versus; vs versus; e.g. for example; i.e. that is; cf. compare; viz. namely; approx. approximately; p.o. P O; p.a. per annum; incl. including; excl. excluding; ref. reference
    qty. quantity; qty quantity; acct. account; acct account; conf. confirmation; msg message; ea. each; appt. appointment; appt appointment; appts appointments; pts. points; pts points; pcs. pieces; pcs pieces; bal. balance; addr address; addr. address
    exp. expires; pop. population; hwy Highway; rte Route; ca. circa; w/ with; w/o without; b/c because; a.k.a. also known as; aka also known as; wt. weight; para. paragraph; paras. paragraphs; int'l international; civ. Civil; crim. Criminal
    thx thanks; pls please; btw by the way; brb be right back; idk I don't know; tmrw tomorrow; yrs years; b4 before; gr8 great; l8r later; m8 mate; w8 wait; ur your
    tbh to be honest; imo in my opinion; imho in my humble opinion; afaik as far as I know; bday birthday; omw on my way; mtg meeting; mtgs meetings; pw password; ppl people; nvm never mind; lmk let me know; rn right now; jk just kidding; ttyl talk to you later; ngl not gonna lie; yoy year over year; y/y year over year; qoq quarter over quarter; q/q quarter over quarter; w/c week commencing
  `,
  perhapsLast: `
    etc. et cetera; etc et cetera; inc. Incorporated; ltd. Limited; co. Company; corp. Corporation; bros. Brothers; jr. Junior; sr. Senior; dept. Department; univ. University; assn. Association; est. established; esq. Esquire
    hrs. hours; hr. hour; mi. miles; yrs. years; yr. year; mo. months; mos. months; wk. week; wks. weeks; mins. minutes; min. minutes; sec. seconds; max. maximum; ext. extension; apt. apartment; tel. telephone; al. al
    ph.d. P H D; m.d. M D; b.a. B A; p.s. P S; r.s.v.p. R S V P; lbs. pounds; lb. pounds; oz. ounces; tbsp. tablespoons; tsp. teaspoons; gal. gallons
    dr. Doctor; mr. Mister; mrs. Missus; ms. Miz; prof. Professor; gen. General; gov. Governor; sen. Senator; rep. Representative; sgt. Sergeant; capt. Captain; col. Colonel
  `
})

const titled = new Set(entriesOf(titles).map(([key]) => key.replace(".", "")))

/** Behind a name: streets, and what lies along them. */
const streets = tableOf(`
  st Street; dr Drive; ave Avenue; blvd Boulevard; rd Road; ln Lane; ct Court; pl Place; hwy Highway; pkwy Parkway; sq Square; expy Expressway; cir Circle; ter Terrace
`)
const streetNames = new Set(Object.values(streets))

/** As the post and as newspapers shorten them. */
const states = new Map(
  entriesOf(`
    AL|Ala Alabama; AK Alaska; AZ|Ariz Arizona; AR|Ark Arkansas; CA|Cal|Calif California; CO|Colo Colorado; CT|Conn Connecticut; DE|Del Delaware; FL|Fla Florida; GA|Ga Georgia; HI Hawaii; ID Idaho
    IL|Ill Illinois; IN|Ind Indiana; IA Iowa; KS|Kan Kansas; KY|Ky Kentucky; LA|La Louisiana; ME Maine; MD|Md Maryland; MA|Mass Massachusetts; MI|Mich Michigan; MN|Minn Minnesota; MS|Miss Mississippi; MO|Mo Missouri
    MT|Mont Montana; NE|Neb Nebraska; NV|Nev Nevada; NH|N.H New Hampshire; NJ|N.J New Jersey; NM|N.M New Mexico; NY|N.Y New York; NC|N.C North Carolina; ND|N.D North Dakota; OH Ohio; OK|Okla Oklahoma; OR|Ore Oregon
    PA|Pa Pennsylvania; RI|R.I Rhode Island; SC|S.C South Carolina; SD|S.D South Dakota; TN|Tenn Tennessee; TX|Tex Texas; UT Utah; VT|Vt Vermont; VA|Va Virginia; WA|Wash Washington; WV|W.Va West Virginia
    WI|Wis Wisconsin; WY|Wyo Wyoming
  `).flatMap(([keys, name]) => keys.split("|").map((key) => [key, name] as const))
)
const stateNames = new Set(states.values())
const parties = tableOf("D Democrat; R Republican; I Independent")
const laws = /^(?:Civ|Code|Penal|Crim|Gov|Gen|Stat|Rev|Bus|Admin|Const|Veh|Lab|Labor|Prob|Evid|Fam|Health|Ins|Educ)$/u

/** States that are no words, and so stand anywhere. */
const unlikeWords = /^(?:Ala|Ariz|Calif|Colo|Fla|Minn|Mont|Neb|Nev|Okla|Tenn|Tex|Wis|Wyo)$/u

/** Before a colon, as forms write them. */
const labels = tableOf("tel telephone; mob mobile; attn attention; amt amount; inv invoice; dept department")

const directions = tableOf("NW Northwest; NE Northeast; SW Southwest; SE Southeast; N North; S South; E East; W West")

export const abbreviation: Kind = (place, language) => {
  const word = wordAt(place)
  if (word === undefined || word.core.length > 8) return undefined
  const isCapital = isName(word.core)
  return (
    (isCapital ? (street(place, word) ?? state(place, word)) : undefined) ??
    special(place, word) ??
    ofTable(place, word, language) ??
    (isCapital ? direction(place, word) : undefined)
  )
}

const isName = (core: string | undefined) => core !== undefined && /^\p{Lu}/u.test(core)

/** "CA" is California, "EST." a zone and "M8" a thread; "an hr." is one. */
const ofTable = (place: Place, { core }: Word, language: Parameters<Kind>[1]): Said | undefined => {
  const spoken = /^\p{Lu}(?:\p{Lu}{1,2}|\d)$/u.test(core) ? undefined : inTables(place, language)
  if (spoken === undefined || !/^(?:an?|per)$/u.test(previousCore(place))) return spoken
  const [text = "", ...rest] = spoken.parts
  return {
    ...spoken,
    parts: [
      text?.replace(/(?<=hour|mile|year|month|week|minute|second|pound|ounce|spoon|gallon)s$/u, "") ?? null,
      ...rest
    ]
  }
}

/** "Elm Dr.", "42 Main St": behind a name, or behind a number and a name; nothing that it titles follows. */
const street = (place: Place, word: Word): Said | undefined => {
  const key = word.core.toLowerCase()
  const name = Object.hasOwn(streets, key) ? streets[key] : undefined
  const before = wordAt(place, -1)
  if (name === undefined || before === undefined || before.stop !== "" || before.trail !== "" || word.lead !== "")
    return undefined
  const isBehindName = isName(before.core) || /^\d+(?:st|nd|rd|th)$/u.test(before.core)
  if (!isBehindName || (word.stop === "" && key.length < 3 && !isAddressed(place))) return undefined
  const next = wordAt(place, 1)
  const isTitle =
    titled.has(key) && isName(next?.core) && word.trail === "" && !isAddressed(place) && !isDirection(next?.core)
  if (isTitle) return undefined
  const endsSentence = word.trail === "" && isName(next?.core) && !isDirection(next?.core)
  return { parts: [name], takesStop: next !== undefined && !endsSentence }
}

/** A number stands within three words before: "1600 Pennsylvania Ave". */
const isAddressed = (place: Place) =>
  [-2, -3, -4].some((offset) => /^\d{1,5}[A-Za-z]?$/u.test(wordAt(place, offset)?.core ?? ""))

const isDirection = (core: string | undefined) => core !== undefined && Object.hasOwn(directions, core)

/** "Austin, TX", "Charleston, S.C.", "(D-Mass.)", "Cal. Civ. Code". */
const state = (place: Place, { core, stop }: Word): Said | undefined => {
  const [, letter = "", home = ""] = /^([DRI])-(\p{Lu}[\p{L}.]{1,13})$/u.exec(core) ?? []
  const from = states.get(home) ?? (stateNames.has(home) ? home : undefined)
  if (from !== undefined) return { parts: [`${parties[letter]} of ${from}`], takesStop: true }
  const name = states.get(core)
  if (name === undefined) return undefined
  const [isBehindComma, next] = [wordAt(place, -1)?.trail.endsWith(",") === true, wordAt(place, 1)?.core ?? ""]
  if (/^\p{Lu}{2}$/u.test(core))
    return isBehindComma && isName(previousCore(place)) && !isName(next) ? said(name) : undefined
  return stop === "." && (place.at === 0 || isBehindComma || laws.test(next) || unlikeWords.test(core))
    ? { parts: [name], takesStop: !mayEndSentence(place) || laws.test(next) }
    : undefined
}

/** What the words around decide: "3 min." and "min. 3". */
const special = (place: Place, word: Word): Said | undefined => {
  const label = word.trail.startsWith(":") ? word.core.toLowerCase() : ""
  if (Object.hasOwn(labels, label)) return said(labels[label] ?? "")
  if (word.stop === "" && word.core !== "pp") return undefined
  const [previous, before, next] = [previousCore(place), wordAt(place, -1), wordAt(place, 1)?.core ?? ""]
  const inside = (text: string) => ({ parts: [text], takesStop: true })
  switch (`${word.core.toLowerCase()}${word.stop}`) {
    case "min.":
      return before?.trail === "" && /\d$/u.test(previous) ? undefined : inside("minimum")
    case "incl.":
      return previous === "not" || !/^[\p{L}\d$]/u.test(next) || word.trail !== ""
        ? { parts: ["included"], takesStop: !mayEndSentence(place) }
        : undefined
    case "ed.":
      return /(?:st|nd|rd|th)$/u.test(previous) ? { parts: ["edition"], takesStop: !mayEndSentence(place) } : undefined
    case "c.":
      return /^\d(?:\/\d)?$|[¼-¾]$/u.test(previous)
        ? inside(/^1$|\/|^[¼-¾]$/u.test(previous) ? "cup" : "cups")
        : undefined
    case "v.":
      return isName(previous) && isName(next) ? inside("versus") : undefined
    case "rev.":
      return /^(?:[A-Z]|\d[\d.]{0,5})$/u.test(next) && wordAt(place, 1)?.stop === "" ? inside("revision") : undefined
    case "l.":
      return /^\d/u.test(next) && before?.trail === "," ? inside("line") : undefined
    case "pp":
    case "pp.":
      return /^[$€£]/u.test(previous) ? { parts: ["per person"], takesStop: !mayEndSentence(place) } : undefined
    default:
      return undefined
  }
}

/** "N. Clark St.", "Main St NW", "I-405 S", "5 mi SW": beside a street, behind a road or a way. */
const direction = (place: Place, word: Word): Said | undefined => {
  const name = isDirection(word.core) ? directions[word.core] : undefined
  if (name === undefined) return undefined
  const [previous, next] = [previousCore(place), wordAt(place, 1)?.core ?? ""]
  const isBehindStreet = Object.hasOwn(streets, previous.toLowerCase()) || streetNames.has(previous)
  const isBeforeStreet =
    (/^\d{1,5}[a-z]?$/iu.test(previous) && isName(next)) ||
    /^\d{1,3}(?:st|nd|rd|th)$/u.test(next) ||
    (word.stop !== "" && isName(next) && [2, 3].some((offset) => isStreet(wordAt(place, offset))))
  const isWay = word.core.length === 2 && /^(?:miles?|mi|km|kilometers?)$/u.test(previous)
  const isOfRoad =
    /^(?:I|US|SR)-\d{1,3}$/u.test(previous) ||
    (/^\d{1,3}$/u.test(previous) && /^(?:hwy|highway|route|interstate|us)$/iu.test(wordAt(place, -2)?.core ?? ""))
  return isBehindStreet || isBeforeStreet || isOfRoad || isWay
    ? { parts: [name], takesStop: word.stop !== "" && next !== "" }
    : undefined
}

const isStreet = (word: Word | undefined) =>
  word !== undefined &&
  (streetNames.has(word.core) || (word.stop !== "" && Object.hasOwn(streets, word.core.toLowerCase())))
