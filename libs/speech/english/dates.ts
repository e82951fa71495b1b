/** English dates and times as words, from parts that are already identified. */
import { cardinal, ordinal, year } from "./numbers.ts"

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

/** Undefined where no such date exists. */
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

/** "3:05pm" is "three oh five p m". A number alone is no time. */
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
