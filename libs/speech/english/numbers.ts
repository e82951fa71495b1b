/**
 * English numbers as words: cardinals, ordinals, years, decimals, single digits. Digits come as text, so that nothing
 * is lost to floating point; a number beyond a quadrillion is read digit by digit.
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
