/** Letters that English spells: initialisms, codes, airports, and letters with signs. Pure. */
import type { Kind } from "../language.ts"
import { initialism as inTable, spell } from "../kinds/initialism.ts"
import { codes } from "./digits.ts"
import { openers } from "../../text/sentences.ts"
import { tableOf } from "../tables.ts"
import { mayEndSentence, type Place, previousCore, said, wordAt } from "../word.ts"

/** Spelled though they could be read. */
const spelled = inTable(
  "DOT ONS AI API UI UX URL URI USA UK EU UN UAE IDE ID IO IP IT OS AWS IAM CEO CFO CTO COO CIO HR IQ EV IOU ETA FAQ ISO IRS IPO NBA NFL MBA AM FM AC DC AA AAA ACL AOL ATM SQL USB LED LCD OEM ROI SEO SLA SLO " +
    "SDK EOD EOF ETF AUM EBIT UDP UAT UV UEFI EEG WHO LA LAX ATL EPS ACH IAD IAH MIA EWR NYC OT OOO UA SFO ORD NY APR APY YTD SKU CI GPU CPU BMI IU PSU ATP FAA EPA IMF NCAA IEEE AP ABC CBS NBC CNN BBC EUR CIA NSA DOJ SEC " +
    "EST EDT UTC CET CEST IST GMT ISBN OTP MIT UCLA USC IBM OECD CD"
)

/** Capitals that people read as a word, and that stand beside digits. */
export const acronyms: ReadonlySet<string> = new Set("ARM SEV RAM ROM PIN SIM GIF MAX MIN LAN".split(" "))

/** Codes, airports, and dollars of the United States too. */
export const initialism: Kind = (place, language) => {
  const core = wordAt(place)?.core ?? ""
  if (!/^\p{Lu}{2}/u.test(core)) return undefined
  if (core === "AAA") return said("triple A")
  const isMoney = core === "US" && /^\$\d/u.test(wordAt(place, 1)?.core ?? "")
  return isMoney || isJourney(place, core) || isCode(core, previousCore(place))
    ? said(spell(core))
    : spelled(place, language)
}

/** "ATL to SEA": airports. */
const isJourney = (place: Place, core: string) =>
  /^[A-Z]{3}$/u.test(core) &&
  [2, -2].some(
    (offset) =>
      /^[A-Z]{3}$/u.test(wordAt(place, offset)?.core ?? "") &&
      /^(?:to|→|-|–)$/u.test(wordAt(place, offset / 2)?.core ?? "")
  )

/** "BIC COBADEFF": letters behind a code's name that nobody can read. */
const isCode = (core: string, previous: string) =>
  /^[A-Z]{5,11}$/u.test(core) &&
  codes.test(previous) &&
  (/[B-DF-HJ-NP-TV-XZ]{3}/u.test(core) || /^(?:bic|swift|pnr)$/iu.test(previous))

/** Greek letters, by name. */
export const greek = tableOf(`
  α alpha; β beta; γ gamma; δ delta; ε epsilon; ζ zeta; η eta; θ theta; ι iota; κ kappa; λ lambda; μ mu; ν nu; ξ xi; ο omicron; π pi; ρ rho; σ sigma; τ tau; υ upsilon; φ phi; χ chi; ψ psi; ω omega
`)

/** Letters with full stops or signs: "U.S.A.", "R&D", "C++", "an A+", "π". */
export const lettersAndSigns: Kind = (place) => {
  const word = wordAt(place)
  if (word === undefined || word.core.length > 16) return undefined
  const { core, stop } = word
  if (core === "©" && /^copyright$/iu.test(previousCore(place))) return said("")
  if (/^WWII?$/u.test(core)) return said(`World War ${core === "WWI" ? "one" : "two"}`)
  // Roth plans.
  if (/^40[13]k$/u.test(core)) return said(core === "401k" ? "four oh one k" : "four oh three k")
  const [, letterBefore = "", behind] = /^([α-ω])-(\p{L}{2,12})$/u.exec(core) ?? []
  if (behind !== undefined) return said(`${greek[letterBefore] ?? ""} ${behind}`)
  const letter = Object.hasOwn(greek, core.toLowerCase()) && core.length === 1 ? greek[core.toLowerCase()] : undefined
  if (letter !== undefined) return said(letter)
  if (/^(?:\p{L}\.){1,6}\p{L}$/u.test(core) && stop === ".") {
    return {
      parts: [core.toUpperCase().replaceAll(".", " ")],
      takesStop: !mayEndSentence(place) || !openers.has(wordAt(place, 1)?.core.toLowerCase() ?? "the")
    }
  }
  // "C. S. Lewis"
  if (
    /^[A-HJ-Z]$/u.test(core) &&
    stop === "." &&
    word.trail === "" &&
    /^\p{Lu}/u.test(wordAt(place, 1)?.core ?? "") &&
    isInName(place)
  ) {
    return { parts: [core], takesStop: true }
  }
  if (/^\p{Lu}{1,3}&\p{Lu}{1,3}$/u.test(core))
    return said(Array.from(core, (sign) => (sign === "&" ? "and" : sign)).join(" "))
  // "PO# 7781"
  if (/^\p{L}{2,12}#$/u.test(core) && /^\d/u.test(wordAt(place, 1)?.core ?? ""))
    return said(`${/^\p{Lu}{2}#/u.test(core) ? `${core[0]} ${core[1]}` : core.slice(0, -1)} number`)
  if (/^\p{L}\w{0,13}\+\+$/u.test(core)) return said(`${core.slice(0, -2)} plus plus`)
  // "O(n log n)"
  const [, base] = /^O\((\p{L})$/u.exec(core) ?? []
  const [log, last] = [wordAt(place, 1), wordAt(place, 2)]
  if (base !== undefined && log?.text === "log" && last?.trail.startsWith(")") === true)
    return { parts: [`O of ${base}`, "log", last.core], isBare: true }
  if (/^[A-Z]#$/u.test(core)) return said(`${core[0]} sharp`)
  if (/^[A-F][+−-]$/u.test(core)) return said(`${core[0]} ${core[1] === "+" ? "plus" : "minus"}`)
  return undefined
}

/** A name or another initial stands beside it. */
const isInName = (place: Place) =>
  wordAt(place, 1)?.stop === "." ||
  /^\p{Lu}/u.test(wordAt(place, -1)?.core ?? "") ||
  /^\p{Lu}\p{Ll}/u.test(wordAt(place, 1)?.core ?? "")
