/**
 * The attributes of `prosody`, read into factors: 100 is as usual, `+20%` and `120%` are the same, a bare number
 * is a factor for rate and a level up to 100 for volume. Hertz are taken against a voice of 120 Hz, since the
 * voice is not known here. Pure; a value that cannot be read is answered with a sentence.
 */
import { Result } from "effect"

export interface Prosody {
  readonly ratePercent: number
  readonly pitchPercent: number
  readonly rangePercent: number
  readonly volumeDb: number
}

export const plainProsody: Prosody = { ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }

/** Stands for silence; beyond it nothing is audible in 16 bits. */
export const silentDb = -96

const referenceHertz = 120

const rateNames = { "x-slow": 50, slow: 75, medium: 100, default: 100, fast: 130, "x-fast": 170 }
const pitchNames = { "x-low": 60, low: 80, medium: 100, default: 100, high: 125, "x-high": 160 }
const rangeNames = { "x-low": 30, low: 60, medium: 100, default: 100, high: 150, "x-high": 200 }
const volumeNames = { silent: silentDb, "x-soft": -14, soft: -7, medium: 0, default: 0, loud: 5, "x-loud": 10 }

const amount = /^([+-]?)(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(%|st|hz|db)?$/u

/** Prosody within prosody: factors multiply, decibels add. */
export const combineProsody = (outer: Prosody, inner: Prosody): Prosody => ({
  ratePercent: (outer.ratePercent * inner.ratePercent) / 100,
  pitchPercent: (outer.pitchPercent * inner.pitchPercent) / 100,
  rangePercent: (outer.rangePercent * inner.rangePercent) / 100,
  volumeDb: outer.volumeDb + inner.volumeDb
})

export const readProsody = (attributes: Readonly<Record<string, string>>): Result.Result<Prosody, string> =>
  Result.all({
    ratePercent: read(attributes, "rate", 100, rateNames, rateOf),
    pitchPercent: read(attributes, "pitch", 100, pitchNames, pitchOf),
    rangePercent: read(attributes, "range", 100, rangeNames, pitchOf),
    volumeDb: read(attributes, "volume", 0, volumeNames, volumeOf)
  })

const read = (
  attributes: Readonly<Record<string, string>>,
  name: string,
  otherwise: number,
  names: Readonly<Record<string, number>>,
  valueOf: (sign: string, value: number, unit: string) => number | undefined
): Result.Result<number, string> => {
  const written = attributes[name]
  if (written === undefined) return Result.succeed(otherwise)
  const text = written.trim().toLowerCase()
  const named = Object.hasOwn(names, text) ? names[text] : undefined
  if (named !== undefined) return Result.succeed(named)
  const [, sign = "", digits = "", unit = ""] = amount.exec(text) ?? []
  const value = digits === "" ? undefined : valueOf(sign, Number(digits), unit)
  return value === undefined
    ? Result.fail(`prosody ${name} "${written.slice(0, 40)}" cannot be read`)
    : Result.succeed(value)
}

const signed = (sign: string, value: number) => (sign === "-" ? -value : value)

/** 120% and +20% are 120; nothing is below 0. */
const percentOf = (sign: string, value: number) => (sign === "" ? value : Math.max(0, 100 + signed(sign, value)))

const rateOf = (sign: string, value: number, unit: string) => {
  if (unit === "%") return percentOf(sign, value)
  return unit === "" && sign === "" ? value * 100 : undefined
}

const pitchOf = (sign: string, value: number, unit: string) => {
  if (unit === "%") return percentOf(sign, value)
  if (unit === "st") return 100 * 2 ** (Math.min(120, Math.max(-120, signed(sign, value))) / 12)
  if (unit !== "hz") return undefined
  const hertz = sign === "" ? value : referenceHertz + signed(sign, value)
  return Math.max(0, (hertz / referenceHertz) * 100)
}

const volumeOf = (sign: string, value: number, unit: string) => {
  if (unit === "db") return signed(sign, value)
  if (unit === "%") return decibels(percentOf(sign, value))
  return unit === "" && sign === "" ? decibels(Math.min(100, value)) : undefined
}

const decibels = (percent: number) => (percent <= 0 ? silentDb : Math.max(silentDb, 20 * Math.log10(percent / 100)))
