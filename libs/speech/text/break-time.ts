/** How long a `break` is. `time` wins over `strength`; longer than a minute is a minute. */
import { Result } from "effect"

export const breakMillisecondsMax = 60_000

const strengths: Readonly<Record<string, number>> = {
  none: 0,
  "x-weak": 100,
  weak: 250,
  medium: 500,
  strong: 900,
  "x-strong": 1_400
}

const duration = /^\+?(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(ms|s)$/u

export const readBreak = (attributes: Readonly<Record<string, string>>): Result.Result<number, string> => {
  const { strength = "medium", time } = attributes
  const least = Object.hasOwn(strengths, strength) ? strengths[strength] : undefined
  if (least === undefined) return Result.fail(`break strength "${strength.slice(0, 40)}" is not known`)
  if (time === undefined) return Result.succeed(least)
  const [, digits, unit] = duration.exec(time.trim().toLowerCase()) ?? []
  if (digits === undefined) return Result.fail(`break time "${time.slice(0, 40)}" is not a time such as 500ms or 2s`)
  const milliseconds = Math.round(Number(digits) * (unit === "s" ? 1_000 : 1))
  return Result.succeed(Math.min(breakMillisecondsMax, milliseconds))
}
