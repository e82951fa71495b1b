/**
 * How long a Retry-After asks to wait (RFC 9110, 10.2.3): seconds, or one of HTTP's three date formats (5.6.7). Pure.
 */

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

const dates = [
  // IMF-fixdate: Sun, 06 Nov 1994 08:49:37 GMT
  /^(?:mon|tue|wed|thu|fri|sat|sun), (?<day>\d\d?) (?<month>[a-z]{3}) (?<year>\d{4}) (?<time>\d\d:\d\d:\d\d) GMT$/iu,
  // RFC 850: Sunday, 06-Nov-94 08:49:37 GMT
  /^(?:mon|tues|wednes|thurs|fri|satur|sun)day, (?<day>\d\d?)-(?<month>[a-z]{3})-(?<year>\d\d) (?<time>\d\d:\d\d:\d\d) GMT$/iu,
  // asctime: Sun Nov  6 08:49:37 1994
  /^(?:mon|tue|wed|thu|fri|sat|sun) (?<month>[a-z]{3}) {1,2}(?<day>\d\d?) (?<time>\d\d:\d\d:\d\d) (?<year>\d{4})$/iu
]

/** Undefined for anything else; a past date asks for no wait. Any number of digits is read. */
export const retryAfterMs = (value: string | undefined, nowMs: number): number | undefined => {
  const text = value?.trim() ?? ""
  if (/^\d+(?:\.\d+)?$/u.test(text)) return Number(text) * 1_000
  const atMs = dateOf(text, nowMs)
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs)
}

const dateOf = (text: string, nowMs: number): number | undefined => {
  const parts = dates.map((date) => date.exec(text)?.groups).find((groups) => groups !== undefined)
  if (parts === undefined) return undefined
  const [hour, minute, second] = (parts["time"] ?? "").split(":").map(Number)
  const day = Number(parts["day"])
  const place = months.indexOf(parts["month"]?.toLowerCase() ?? "")
  const year = yearOf(parts["year"] ?? "", nowMs)
  if (place < 0 || hour! > 23 || minute! > 59 || second! > 60) return undefined
  const atMs = Date.UTC(year, place, day, hour, minute, second)
  const isReal = new Date(Date.UTC(year, place, day)).getUTCDate() === day
  return isReal ? atMs : undefined
}

// Two digits more than fifty years ahead belong to the past century.
const yearOf = (digits: string, nowMs: number) => {
  if (digits.length > 2) return Number(digits)
  const thisYear = new Date(nowMs).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + Number(digits)
  return year > thisYear + 50 ? year - 100 : year
}
