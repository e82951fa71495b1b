/** English, American and British: months before days and no "and" in numbers in the first. */
import { toCardinal as cardinalInBritain } from "n2words/en-GB"
import { toCardinal, toOrdinal } from "n2words/en-US"
import { currenciesOf, magnitudesOf, nounsOf, tableOf } from "../tables.ts"
import type { ClockTime, DateParts, Language } from "../language.ts"
import { abbreviation } from "../english/abbreviation.ts"
import { codeOfSigns } from "../english/code.ts"
import { calendar } from "../english/calendar.ts"
import { decade, yearInWords } from "../english/year.ts"
import { clock } from "../english/clock.ts"
import { dayAndMonth } from "../kinds/date.ts"
import { withDigits } from "../kinds/digits.ts"
import { compound } from "../english/compound.ts"
import { houseNumber, inPairs, labelNumber, rowOfDigits, softwareVersion, withOh } from "../english/digits.ts"
import { acronyms, greek, initialism, lettersAndSigns } from "../english/initialism.ts"
import { romanNumerals } from "../english/roman.ts"
import { romanNumeral } from "../kinds/roman.ts"

const months = "January February March April May June July August September October November December".split(" ")

const year = (digits: string, cardinal: Language["cardinal"]): string => {
  const value = Number(digits)
  if (digits.length === 2) return withOh(digits, cardinal)
  const [century, rest] = [Math.floor(value / 100), value % 100]
  return digits.length !== 4 || century < 10 || (century % 10 === 0 && rest < 10)
    ? cardinal(digits)
    : inPairs(digits, cardinal)
}

/** The library counts from first on. */
const ordinal = (digits: string): string => {
  const bare = digits.replaceAll(/\D/gu, "").replace(/^0+(?=\d)/u, "")
  return bare === "0" ? "zeroth" : toOrdinal(bare)
}

const sayOrdinal = (core: string): string | undefined => {
  const [, digits] = /^(\d{1,3}(?:,\d{3}){1,3}|[1-9]\d{0,8})(?:(?<=1)st|nd|rd|th)$/iu.exec(core) ?? []
  return digits === undefined ? undefined : ordinal(digits)
}

const dateOf = (cardinal: Language["cardinal"], isMonthFirst: boolean) => (parts: DateParts) => {
  const name = parts.month === undefined ? undefined : months[parts.month - 1]
  const day = parts.day === undefined ? undefined : toOrdinal(parts.day)
  const isDayFirst = !isMonthFirst && name !== undefined && day !== undefined
  const dayAndMonth = isDayFirst ? `the ${day} of ${name}` : [name, day].filter((part) => part !== undefined).join(" ")
  const spokenYear = parts.year === undefined ? undefined : year(parts.year, cardinal)
  return [dayAndMonth, spokenYear].filter((part) => part).join(day === undefined ? " " : ", ")
}

/** "3:05 pm" is "three oh five P M", 10:00 "ten o'clock", 22:00 "twenty-two hundred". */
const time = ({ half, hour, minute, second }: ClockTime): string => {
  const parts = [toCardinal(hour)]
  if (minute === 0 && half === undefined && (second ?? 0) === 0) {
    parts.push(hour > 12 || hour === 0 ? "hundred" : "o'clock")
  } else if (minute !== undefined && (minute > 0 || second !== undefined)) {
    parts.push(minute < 10 ? `oh ${toCardinal(minute)}` : toCardinal(minute))
  }
  if (second !== undefined && second > 0) parts.push(`and ${toCardinal(second)} ${second === 1 ? "second" : "seconds"}`)
  if (half !== undefined) parts.push(half === "am" ? "A M" : "P M")
  return parts.join(" ")
}

const fraction = (above: string, below: string): string => {
  const part = below === "2" ? "half" : below === "4" ? "quarter" : ordinal(below)
  if (above === "1") return `one ${part}`
  return `${toCardinal(above)} ${part === "half" ? "halves" : `${part}s`}`
}

const mixed = (whole: string, above: string, below: string) => {
  const part = fraction(above, below)
  if (whole === "0") return part
  return `${toCardinal(whole)} and ${above === "1" && below === "2" ? "a half" : part}`
}

const currencies = currenciesOf(
  `
  USD dollar, cent; AUD Australian dollar, cent; CAD Canadian dollar, cent; NZD New Zealand dollar, cent; HKD Hong Kong dollar, cent; BRL real/reais, centavo; MXN Mexican peso, centavo; EUR euro, cent
  GBP pound, penny/pence; JPY yen/yen; CNY yuan/yuan; INR rupee, paisa/paise; CHF Swiss franc, centime; SEK Swedish krona/Swedish kronor; NOK Norwegian krone/Norwegian kroner; DKK Danish krone/Danish kroner
  PLN Polish zloty; KRW won/won; RUB ruble; BTC bitcoin; USDC U S D C/U S D C; TRY lira/lira; ILS shekel; ¢ cent
`,
  {}
)

const magnitudes = magnitudesOf(
  "thousand|k thousand; million|m|mn|mm|mio million; billion|bn|b billion; trillion|tn|t trillion",
  { plural: (one) => one }
)

const units = nounsOf(`
  km kilometer; m meter; cm centimeter; mm millimeter; nm nanometer; µm micrometer; μm micrometer; mi mile; yd yard
  ft foot/feet; in inch/inches; ha hectare; nmi nautical mile/nautical miles
  kg kilogram; g gram; mg milligram; mcg microgram; IU I U/I U; µg microgram; μg microgram; t ton; lb pound; lbs pound; st stone/stone; oz ounce; fl_oz fluid ounce; sq_ft square foot/square feet; sq_m square meter; sq_km square kilometer; sq_mi square mile
  l liter; L liter; ml milliliter; mL milliliter; cl centiliter; dl deciliter; gal gallon; qt quart; pt pint; tbsp tablespoon; tsp teaspoon
  kB kilobyte; KB kilobyte; MB megabyte; GB gigabyte; TB terabyte; PB petabyte; KiB kibibyte; MiB mebibyte; GiB gibibyte; TiB tebibyte
  kbps kilobit per second/kilobits per second; mbps megabit per second/megabits per second; Kbps kilobit per second/kilobits per second; Mbps megabit per second/megabits per second; Gbps gigabit per second/gigabits per second
  kbit kilobit; Mbit megabit; Gbit gigabit
  Hz hertz/hertz; kHz kilohertz/kilohertz; MHz megahertz/megahertz; GHz gigahertz/gigahertz
  ms millisecond; µs microsecond; μs microsecond; us microsecond; ns nanosecond; s second; sec second; secs second; min minute; mins minute; h hour; hr hour; hrs hour; d day; wk week; mo month; yr year; yrs year
  W watt; kW kilowatt; MW megawatt; GW gigawatt; Wh watt hour; kWh kilowatt hour; MWh megawatt hour; mAh milliamp hour; V volt; kV kilovolt; mV millivolt; A amp; mA milliamp; Ω ohm; kΩ kilohm; GWh gigawatt hour; TWh terawatt hour; C degree Celsius/degrees Celsius; F degree Fahrenheit/degrees Fahrenheit
  mW milliwatt; J joule; kJ kilojoule; cal calorie; kcal kilocalorie; N newton; Pa pascal; kPa kilopascal; hPa hectopascal; mmHg millimeter of mercury/millimeters of mercury; Nm newton meter; N·m newton meter; ft-lb foot-pound; lb-ft pound-foot/pound-feet; MPa megapascal; bar bar; psi P S I/P S I; hp horsepower/horsepower; rpm R P M/R P M
  mph mile per hour/miles per hour; kph kilometer per hour/kilometers per hour; mpg mile per gallon/miles per gallon; bpm beat per minute/beats per minute; rps request per second/requests per second; ea each/each; req request; reqs request; ops operation; VAC volt A C/volts A C; V~ volt A C/volts A C; VDC volt D C/volts D C; fps frame per second/frames per second; km/h kilometer per hour/kilometers per hour; m/s meter per second/meters per second
  °C degree Celsius/degrees Celsius; °F degree Fahrenheit/degrees Fahrenheit; ° degree; ºC degree Celsius/degrees Celsius; ºF degree Fahrenheit/degrees Fahrenheit; º degree;
  % percent/percent; ‰ per mille/per mille; pp percentage point/percentage points; bp basis point/basis points; bps basis point/basis points; dB decibel; dBm D B M/D B M; px pixel; MP megapixel; ppm part per million/parts per million
  mol mole; mmol millimole; µmol micromole; mM millimolar/millimolar; µM micromolar/micromolar; μM micromolar/micromolar; nM nanomolar/nanomolar; Gt gigaton; Mt megaton; ppb part per billion/parts per billion; eV electron volt; keV kiloelectron volt; MeV megaelectron volt; dB(A) decibel; bbl barrel; Mi mebibyte; Gi gibibyte; ft-lbs foot-pound/foot-pounds; lm lumen; lx lux/lux; cd candela; hour hour; day day; month month; year year; week week; person person/people; user user; GB/s gigabyte per second/gigabytes per second; MB/s megabyte per second/megabytes per second
`)

const signs: Language["signs"] = {
  ...tableOf(`
    & and; + plus; − minus; = equals; == equals; === triple equals; != is not equal to; !== is strictly not equal to; ≠ is not equal to; ≈ approximately; ~ about; ± plus or minus
    × times; · times; ÷ divided by; < less than; > greater than; <= less than or equal to; >= greater than or equal to; ≤ less than or equal to
    ≥ greater than or equal to; √ the square root of; ∞ infinity; % percent; ° degrees; § section; ¶ paragraph; @ at; # hashtag; → to; ∈ in; ∉ not in
    ∀ for all; ∃ there is; ∑ the sum of; ∫ the integral of; ⇒ implies; -> to; => to; © copyright; $ dollars; € euros; £ pounds; / ; && and; || or; Ω ohms
    v version
  `),
  ...greek
}

const operators: Language["operators"] = tableOf(`
  + plus; - minus; − minus; * times; × times; · times; / over; ÷ divided by; = equals; == equals; === triple equals; != is not equal to; ≠ is not equal to
  < less than; > greater than; <= less than or equal to; >= greater than or equal to; ≤ less than or equal to; ≥ greater than or equal to; ≈ approximately
`)

const symbols: Language["symbols"] = {
  ...tableOf(`
    . dot; @ at; / slash; \\ backslash; - dash; _ underscore; : colon; , comma; ? question mark; ! exclamation mark; & and; = equals; + plus; # hash
    % percent; ~ tilde; ^ caret; * star; ' apostrophe; " quote; ( open parenthesis; ) close parenthesis; $ dollar
  `),
  ";": "semicolon"
}

/** What may stand behind an amount and is not what it is an amount of. */
const functionWords = new Set(
  (
    "and are but can did does for from had has have into less more most nor not off only onto out over per plus than that the " +
    "their then there they this those through today tomorrow under until upon was were when where which while who will with " +
    "within without would yesterday today now again ago each apart away back left long wide tall high deep old young " +
    "tonight later earlier before after against between during since because must may might should shall means"
  ).split(" ")
)

const isNoun = (core: string) => /^(?:\p{Ll}[\p{Ll}-]{2,}|\p{Lu}{2,6})$/u.test(core) && !functionWords.has(core)

const words: Language["words"] = {
  minus: "minus",
  plus: "plus",
  to: "to",
  and: "and",
  by: "by",
  of: "of",
  outOf: "out of",
  against: "to",
  number: "number",
  about: "about",
  squared: "squared",
  cubed: "cubed",
  square: (unit) => `square ${unit}`,
  cubic: (unit) => `cubic ${unit}`,
  power: (exponent) =>
    exponent.startsWith("-")
      ? `to the minus ${toCardinal(exponent.slice(1))}`
      : `to the ${exponent === "0" ? "zero" : ordinal(exponent)}`
}

const englishOf = (cardinal: Language["cardinal"], isMonthFirst: boolean): Language => ({
  decimalMark: ".",
  groupSpace: undefined,
  isMonthFirst,
  cardinal,
  ordinal,
  sayOrdinal,
  point: "point",
  sayFraction: (digits) => Array.from(digits, (digit) => toCardinal(digit)).join(" "),
  year: (digits) => year(digits, cardinal),
  months,
  date: dateOf(cardinal, isMonthFirst),
  time,
  fraction,
  mixed,
  sayLabel: (digits) => (digits.length < 3 ? cardinal(digits) : inPairs(digits, cardinal)),
  words,
  currencies,
  magnitudes,
  ofMagnitude: (noun) => noun,
  units,
  uncertainUnits: new Set("a A S In IN H t T d D C F K k M N J B G e x st".split(" ")),
  per: "per",
  signs,
  symbols,
  operators,
  kinds: [
    calendar,
    clock,
    codeOfSigns,
    romanNumeral(romanNumerals(ordinal)),
    withDigits(dayAndMonth, decade, yearInWords, rowOfDigits, houseNumber, labelNumber, softwareVersion, compound),
    abbreviation,
    lettersAndSigns
  ],
  lateKinds: [initialism],
  isAttribute: (article, noun) =>
    /^(?:the|my|your|his|her|its|our|their)$/iu.test(article)
      ? isNoun(noun)
      : /^(?:an?|each|every|this|another)$/iu.test(article) && isNoun(noun) && !/[^s]s$/u.test(noun),
  isCounted: /^(?:step|part|page|day|week|lesson|episode|round|question|slide|chapter|try|attempt)$/iu,
  isNoun,
  isCrowd: (previous, next) =>
    !/^(?:the|an?)$/iu.test(previous) &&
    /^(?!.*(?:race|hurdle|sprint|freestyle|relay|runner|lap|dive|length|event))\p{Ll}{4,}s$|^people$/u.test(next) &&
    !functionWords.has(next),
  acronyms,
  isLabelled:
    /^(?:exit|gate|seats?|row|fig|figure|form|table|room|apartment|apt|unit|suite|section|bus|line|route|building|flat|floor|platform|track|block|wing|terminal|box)$/iu,
  isBeforeDate:
    /^(?:on|by|since|until|till|thru|through|before|after|from|due|dated|posted|starting|ending|effective|mon|tues?|wed|thur?s?|fri|sat|sun)$/iu,
  isOperation: /^(?:multiply|multiplied|divide|divided|times)$/iu,
  isRating: /^(?:scored|got|rated|rating|score|solved|passed)$/iu,
  telephone: [/^(?:1[ .-])?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}$/u, /^\d{3}-\d{4}$/u]
})

export const american = englishOf((digits) => toCardinal(digits), true)
export const british = englishOf((digits) => cardinalInBritain(digits), false)
