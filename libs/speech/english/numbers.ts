/**
 * English numbers, dates and times as words: cardinals, ordinals, years, decimals, single digits, and dates whose parts
 * are already identified. Digits come as text, so that nothing is lost to floating point; a number beyond a quadrillion
 * is read digit by digit.
 */

const below20 = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen " +
  "seventeen eighteen nineteen"
).split(" ")
const tens = "- - twenty thirty forty fifty sixty seventy eighty ninety".split(" ")
const scales = ["", " thousand", " million", " billion", " trillion"]
const digitsMax = 15

const wordOf = (value: number): string => below20[value] ?? ""

const belowHundred = (value: number): string => {
  if (value < 20) return wordOf(value)
  const unit = value % 10
  return `${tens[Math.floor(value / 10)] ?? ""}${unit === 0 ? "" : `-${wordOf(unit)}`}`
}

const belowThousand = (value: number): string => {
  if (value < 100) return belowHundred(value)
  const rest = value % 100
  return `${wordOf(Math.floor(value / 100))} hundred${rest === 0 ? "" : ` ${belowHundred(rest)}`}`
}

/** "1205" is "one two zero five". */
export const digitByDigit = (digits: string): string =>
  Array.from(digits, (digit) => below20[Number(digit)] ?? digit).join(" ")

/** Digits only, grouping commas allowed. */
export const cardinal = (text: string): string => {
  const digits = text.replaceAll(",", "")
  if (digits.length > digitsMax || (digits.length > 1 && digits.startsWith("0"))) return digitByDigit(digits)
  const groups: Array<string> = []
  for (let end = digits.length, scale = 0; end > 0; end -= 3, scale += 1) {
    const value = Number(digits.slice(Math.max(0, end - 3), end))
    if (value > 0) groups.unshift(`${belowThousand(value)}${scales[scale] ?? ""}`)
  }
  return groups.length === 0 ? wordOf(0) : groups.join(" ")
}

/** An optional sign, digits, and an optional point with more digits. */
export const decimal = (text: string): string => {
  const isNegative = text.startsWith("-") || text.startsWith("−")
  const [whole = "", fraction = ""] = (isNegative || text.startsWith("+") ? text.slice(1) : text).split(".")
  const point = fraction === "" ? "" : ` point ${digitByDigit(fraction)}`
  return `${isNegative ? "minus " : ""}${cardinal(whole === "" ? "0" : whole)}${point}`
}

const irregular: Readonly<Record<string, string>> = {
  one: "first",
  two: "second",
  three: "third",
  five: "fifth",
  eight: "eighth",
  nine: "ninth",
  twelve: "twelfth"
}

/** "23" is "twenty-third". */
export const ordinal = (digits: string): string => {
  const words = cardinal(digits)
  const cut = Math.max(words.lastIndexOf(" "), words.lastIndexOf("-")) + 1
  const last = words.slice(cut)
  const regular = last.endsWith("y") ? `${last.slice(0, -1)}ieth` : `${last}th`
  return words.slice(0, cut) + (irregular[last] ?? regular)
}

/** Four digits as a year: "1999" is "nineteen ninety-nine", "2005" is "two thousand five". */
export const year = (digits: string): string => {
  const value = Number(digits)
  const [century, rest] = [Math.floor(value / 100), value % 100]
  if (digits.length !== 4 || century < 10 || (century % 10 === 0 && rest < 10)) return cardinal(digits)
  if (rest === 0) return `${belowHundred(century)} hundred`
  return `${belowHundred(century)} ${rest < 10 ? `oh ${wordOf(rest)}` : belowHundred(rest)}`
}

const months = "January February March April May June July August September October November December".split(" ")

/** 1 is January. */
export const monthName = (month: number): string | undefined => months[month - 1]

/** "Jan", "jan." and "January" are 1. */
export const monthNumber = (text: string): number | undefined => {
  const name = text.replace(".", "").toLowerCase()
  const found = months.findIndex((month) => {
    const lower = month.toLowerCase()
    return lower === name || lower.slice(0, 3) === name || (name === "sept" && month === "September")
  })
  return found === -1 || name === "" ? undefined : found + 1
}

interface DateParts {
  readonly day?: number | undefined
  readonly month?: number | undefined
  readonly year?: string | undefined
}

/** Undefined if no such date exists. */
export const spokenDate = (parts: DateParts): string | undefined => {
  const name = parts.month === undefined ? undefined : monthName(parts.month)
  if (parts.month !== undefined && name === undefined) return undefined
  if (parts.day !== undefined && (parts.day < 1 || parts.day > 31)) return undefined
  const day = parts.day === undefined ? undefined : ordinal(String(parts.day))
  const dayAndMonth = [name, day].filter((part) => part !== undefined).join(" ")
  const spokenYear = parts.year === undefined ? undefined : yearOf(parts.year)
  return [dayAndMonth, spokenYear].filter((part) => part).join(day === undefined ? " " : ", ") || undefined
}

const yearOf = (digits: string) => {
  if (digits.length !== 2) return year(digits)
  return digits.startsWith("0") ? `oh ${cardinal(digits.slice(1))}` : cardinal(digits)
}

const isoDate = /^(\d{4})-(\d{1,2})-(\d{1,2})$/u
const slashDate = /^(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})$/u

/** Dates in digits are month first in the United States, and day first elsewhere. */
export const isMonthFirst = (locale: string): boolean => /^en(?:$|-us)/iu.test(locale)

/** Reads year-month-day, or day and month in the order of the locale. */
export const readDate = (text: string, isMonthFirst: boolean): string | undefined => {
  const iso = isoDate.exec(text)
  if (iso) return spokenDate({ year: iso[1], month: Number(iso[2]), day: Number(iso[3]) })
  const [, first, second, year] = slashDate.exec(text) ?? []
  if (first === undefined) return undefined
  const [month, day] = isMonthFirst && Number(first) <= 12 ? [first, second] : [second, first]
  return spokenDate({ year, month: Number(month), day: Number(day) })
}

const clock = /^(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?(am|pm|a\.m\.?|p\.m\.?)?$/iu

/** "3:05pm" is "three oh five p m". A number alone is not a time. */
export const readTime = (text: string): string | undefined => {
  const [, hour = "", minute, second, half] = clock.exec(text) ?? []
  if (hour === "" || Number(hour) > 24 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined
  if (minute === undefined && half === undefined) return undefined
  const parts = [cardinal(String(Number(hour))), minutesOf(minute, half !== undefined)]
  if (second !== undefined && second !== "00") parts.push(`and ${cardinal(String(Number(second)))} seconds`)
  if (half !== undefined) parts.push(half.toLowerCase().startsWith("a") ? "A M" : "P M")
  return parts.filter((part) => part !== "").join(" ")
}

const minutesOf = (minute: string | undefined, isTwelveHours: boolean) => {
  if (minute === undefined) return ""
  if (minute === "00") return isTwelveHours ? "" : "hundred"
  return minute.startsWith("0") ? `oh ${cardinal(minute.slice(1))}` : cardinal(minute)
}
