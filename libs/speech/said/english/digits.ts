/** Rows of digits that English reads in pairs or one by one: houses, codes, emergency calls. Pure. */
import { digitByDigit } from "../number.ts"
import type { Kind, Language } from "../language.ts"
import { following, type Place, previousCore, type Said, said, wordAt } from "../word.ts"

const calls = /^(?:dial|call|ring|text|phone|ext|extension|box)$/iu
export const codes =
  /^(?:zip|code|pin|otp|password|passcode|cvv|cvc|ssn|id|serial|reference|ref|confirmation|conf|tracking|order|account|acct|iban|postcode|bic|swift|sku|pnr|build|upc|ean|routing)$/iu
const states =
  /^(?:A[LKZR]|C[AOT]|DE|FL|GA|HI|I[DLNA]|K[SY]|LA|M[EDAINSOT]|N[EVHJMYCD]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[TA]|W[AVIY]|DC)$/u

export const rowOfDigits: Kind = (place, language) => {
  const word = wordAt(place)
  const [, first, second] = /^(\d{5})-(\d{4})$/u.exec(word?.core ?? "") ?? []
  if (first !== undefined && second !== undefined)
    return said(`${digitByDigit(first, language)}, ${digitByDigit(second, language)}`)
  const [, family, series] = /^(7\d7)-(\d{3})$/u.exec(word?.core ?? "") ?? []
  if (family !== undefined && series !== undefined)
    return said(`${inPairs(family, language.cardinal)} ${inPairs(series, language.cardinal)}`)
  const [, line, last] = /^L(\d{1,5})[–-]L?(\d{1,5})$/u.exec(word?.core ?? "") ?? []
  if (line !== undefined && last !== undefined)
    return said(`lines ${language.cardinal(line)} to ${language.cardinal(last)}`)
  const [, hours] = /^q(\d{1,2})h$/u.exec(word?.core ?? "") ?? []
  if (hours !== undefined) return said(`every ${language.cardinal(hours)} hours`)
  const [, won, lost, drawn] = /^(\d{1,2})-(\d{1,2})(?:-(\d{1,2}))?$/u.exec(word?.core ?? "") ?? []
  if (won !== undefined && lost !== undefined && word?.lead === "(" && word.trail.startsWith(")") && isTeam(place))
    return said(
      [won, lost, drawn].flatMap((games) => (games === undefined ? [] : [language.cardinal(games)])).join(" and ")
    )
  const [, rate] = /^\.(\d{3})$/u.exec(word?.core ?? "") ?? []
  if (
    rate !== undefined &&
    /^(?:hit|hits|hitting|batted|batting|bats|slugging|slugged|average|averaging)$/iu.test(previousCore(place))
  )
    return said(inPairs(rate, language.cardinal))
  const [, mark, digits = ""] = /^([x#]?)(\d{2,12})$/u.exec(word?.core ?? "") ?? []
  if (word !== undefined && digits === "") return stamped(word.core, language)
  if (word === undefined) return undefined
  if (mark === "#" && digits.length > 3)
    return said(`number ${digits.length > 4 ? digitByDigit(digits, language) : inPairs(digits, language.cardinal)}`)
  if (/[([]/u.test(word.lead)) return undefined
  if (/^\d/u.test(following(place)?.core ?? "")) return groupsOfCode(place, language)
  const isEnd =
    word.lead.includes("..") ||
    word.lead.includes("…") ||
    word.lead.includes("**") ||
    /^[•*xX]{2,16}$/u.test(previousCore(place))
  const [previous, before] = [previousCore(place), wordAt(place, -2)?.core ?? ""]
  const spoken = digitByDigit(digits, language)
  if (mark === "x") return /^\d{3}-\d{4}$|^\d{4}$/u.test(previous) ? said(`extension ${spoken}`) : undefined
  if (isEnd) return { parts: [spoken], isBare: true }
  const isText = digits.length > 4 && [-2, -3].some((offset) => /^text$/iu.test(wordAt(place, offset)?.core ?? ""))
  const isCall = isText || calls.test(previous) || /^calls?$/u.test(wordAt(place, 1)?.core ?? "")
  if (digits.length >= 3 && mark === "" && isCall) return said(spoken)
  if (digits.length === 5 && states.test(previous)) return said(spoken)
  const isCode =
    codes.test(previous) ||
    (/^(?:is|in|number|no|code|:)$/iu.test(previous) && (codes.test(before) || before === "ending"))
  // Nobody counts so far without commas.
  const isRow = digits.length > 8 && mark === "" && !digits.endsWith("000")
  return (isCode && digits.length >= 4) || isRow ? said(spoken) : stamped(digits, language)
}

/** "Chiefs (11-6)": games won and lost. */
const isTeam = (place: Place) => /^\p{Lu}\p{L}{3,}s$/u.test(previousCore(place)) && wordAt(place, -1)?.trail === ""

/** "20240611.3": a day that numbers a build. */
const stamped = (core: string, language: Language): Said | undefined => {
  const [, year, month, day, nth] = /^(20[0-3]\d)(0[1-9]|1[0-2])([0-2]\d|3[01])((?:[.-]\d{1,3})?)$/u.exec(core) ?? []
  if (year === undefined || month === undefined || day === undefined || nth === undefined) return undefined
  const groups = [year, month, day].map((group) => digitByDigit(group, language)).join(", ")
  return said(
    nth === "" ? groups : `${groups}, ${nth.startsWith(".") ? "point" : "dash"} ${language.cardinal(nth.slice(1))}`
  )
}

/** "Your code is 482 913", "account 8890 123 456". */
const groupsOfCode = (place: Place, language: Language): Said | undefined => {
  const isCode = [-1, -2].some(
    (offset) =>
      /^(?:no|number)$/iu.test(wordAt(place, offset)?.core ?? "") || codes.test(wordAt(place, offset)?.core ?? "")
  )
  if (!isCode) return undefined
  const groups: Array<string> = []
  for (let offset = 0; offset < 6; offset += 1) {
    const core = (offset === 0 ? wordAt(place) : following(place, offset))?.core ?? ""
    if (!/^\d{2,4}$/u.test(core)) break
    groups.push(digitByDigit(core, language))
  }
  return groups.length < 2
    ? undefined
    : said(...groups.map((group, at) => (at < groups.length - 1 ? `${group},` : group)))
}

const labels =
  /^(?:flight|train|room|suite|form|iso|rfc|boeing|boeing's|airbus|bus|route|rte|highway|hwy|interstate|exit|gate|code|http|status|error|returned|returns?|got|gets|bill|resolution|section|sec|rule|apartment|apt|ste|rm|studio|channel|cfr|rtx|gtx|rx|ryzen|xeon|geforce|radeon|model|cessna|porsche|peugeot|precinct|local|unit|locker|lot|amtrak|acela|delta|united|southwest|jetblue|lufthansa|ryanair|eurostar)$/iu

/** "Flight UA 1482", "Room 1204", "HTTP 404", "a 502": names rather than amounts. */
export const labelNumber: Kind = (place, language) => {
  const digits = /^\d{3,4}$/u.exec(wordAt(place)?.core ?? "")?.[0]
  if (digits === undefined || digits.startsWith("0")) return undefined
  const [previous, next] = [previousCore(place), following(place)?.core ?? ""]
  const isCarrier = /^[A-Z\d]{2}$/u.test(previous) && labels.test(wordAt(place, -2)?.core ?? "")
  const isAct = /^(?:§{1,2}|H\.R|S\.R)$/u.test(previous) || next === "block"
  const isRoad =
    previous === "the" &&
    /^(?:take|took|on|via|off|onto|from)$/iu.test(wordAt(place, -2)?.core ?? "") &&
    digits.length === 3 &&
    language.isNoun?.(next) !== true
  const isAircraft = /^7[0-9]7$/u.test(digits) && language.isNoun?.(next) !== true
  const isStatus =
    /^[1-5]\d{2}$/u.test(digits) &&
    (/^(?:errors?|responses?|status)$/u.test(next) || (/^an?$/u.test(previous) && language.isNoun?.(next) !== true))
  // "401, not 403"
  const isOther =
    /^[1-5]\d{2}$/u.test(digits) &&
    /^(?:not|or|and|vs|than)$/u.test(previous) &&
    [-2, -3].some((offset) => isStatusAt(place, offset))
  return labels.test(previous) || isOther || isCarrier || isStatus || isRoad || isAircraft || isAct
    ? said(inPairs(digits, language.cardinal))
    : undefined
}

const isStatusAt = (place: Place, offset: number) =>
  /^[1-5]\d{2}$/u.test(wordAt(place, offset)?.core ?? "") &&
  (/^an?$/u.test(wordAt(place, offset - 1)?.core ?? "") || labels.test(wordAt(place, offset - 1)?.core ?? ""))

const software =
  /^(?:linux|python|node|go|java|ruby|php|chrome|firefox|safari|ubuntu|debian|fedora|android|ios|macos|windows|kubernetes|postgres|postgresql|tls|swift|rust|typescript|react|angular|django|rails|version|release|kernel|nginx|redis|kafka|gcc|clang)$/iu

/** "Python 3.12 is faster than 3.10": the other side of a comparison. */
const isCompared = (place: Place) => {
  if (
    !/^(?:than|to|from|and|or|vs|versus|[<>]=?|=|over|until|through|on|with|is|now|be|least|requires?|needs?|since|below|above|before|after|supports?)$/u.test(
      previousCore(place)
    )
  )
    return false
  for (let offset = -2; offset > -12; offset -= 1) {
    const [word, next] = [wordAt(place, offset), wordAt(place, offset + 1)]
    if (word === undefined || (word.stop !== "" && /^\p{Lu}/u.test(next?.core ?? ""))) return false
    if (software.test(word.core.replace(/\.js$/u, ""))) return true
  }
  return false
}

/** "Python 3.12" is "three point twelve", "Ubuntu 22.04" "twenty-two oh four". */
export const softwareVersion: Kind = (place, language) => {
  const [, major, minor = ""] = /^(\d{1,2})\.(\d{2})$/u.exec(wordAt(place)?.core ?? "") ?? []
  const isVersion = software.test(previousCore(place)) || isCompared(place)
  if (major === undefined || !isVersion || language.units.has(following(place)?.core ?? "")) return undefined
  return said(`${language.cardinal(major)} ${minor.startsWith("0") ? "" : "point "}${withOh(minor, language.cardinal)}`)
}

const streets =
  /^(?:st|street|ave|avenue|rd|road|dr|drive|blvd|boulevard|ln|lane|ct|court|pl|place|way|expy|expressway|hwy|highway|pkwy|parkway|broadway|sq|square|terrace|ter)$/iu

/** "1600 Pennsylvania Ave" is "sixteen hundred", "221B Baker St" "two twenty-one B". */
export const houseNumber: Kind = (place, language) => {
  const [, digits = "", letter = ""] = /^(\d{3,4})([A-Z]?)$/u.exec(wordAt(place)?.core ?? "") ?? []
  if (digits === "" || !isBeforeStreet(place)) return undefined
  return said([inPairs(digits, language.cardinal), letter].filter((part) => part !== "").join(" "))
}

const isBeforeStreet = (place: Parameters<Kind>[0]) => {
  for (let offset = 1; offset <= 4; offset += 1) {
    const word = offset === 1 ? following(place) : wordAt(place, offset)
    if (word === undefined || !/^\p{Lu}/u.test(word.core)) return false
    if (streets.test(word.core) && (offset > 1 || /^broadway$/iu.test(word.core))) return true
    // "1201 S. Main St"
    if (word.trail !== "" || (word.stop !== "" && !/^[NSEW]$/u.test(word.core))) return false
  }
  return false
}

/** "2788" is "twenty-seven eighty-eight", "405" "four oh five", "1600" "sixteen hundred". */
export const inPairs = (digits: string, cardinal: Language["cardinal"]): string => {
  const [above, below] = [digits.slice(0, -2), digits.slice(-2)]
  if (below === "00") return /^\d0$/u.test(above) ? cardinal(digits) : `${cardinal(above)} hundred`
  return `${cardinal(above)} ${withOh(below, cardinal)}`
}

/** "05" is "oh five". */
export const withOh = (digits: string, cardinal: Language["cardinal"]): string =>
  digits.startsWith("0") ? `oh ${cardinal(digits.slice(1))}` : cardinal(digits)
