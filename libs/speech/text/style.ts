/**
 * The style of a piece of text, as four numbers. They are final: prosody multiplied through its nesting, then the
 * emotion and the emphasis, then clamped.
 */
import { Result } from "effect"
import type { ChunkPiece } from "#speech/contract"

export type Style = Omit<ChunkPiece, "text" | "pronunciations">

/** The voice without any requested style. */
export const plainStyle: Style = { ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }

/** The level of silence; nothing below it is audible in 16 bits. */
const silentDb = -96

const referenceHertz = 120

const amount = /^([+-]?)(\d{1,6}(?:\.\d{0,6})?|\.\d{1,6})(%|st|hz|db)?$/u

/** A style within a style: factors multiply, decibels add. */
export const combineStyles = (outer: Style, inner: Style): Style => ({
  ratePercent: (outer.ratePercent * inner.ratePercent) / 100,
  pitchPercent: (outer.pitchPercent * inner.pitchPercent) / 100,
  rangePercent: (outer.rangePercent * inner.rangePercent) / 100,
  volumeDb: outer.volumeDb + inner.volumeDb
})

/**
 * The attributes of `prosody`, read into factors: 100 is as usual, `+20%` and `120%` are the same, a bare number is a
 * factor for rate and a level up to 100 for volume. Hertz are relative to a voice of 120 Hz, because the voice is not
 * known here. An unreadable value fails with a sentence.
 */
export const readProsody = (attributes: Readonly<Record<string, string>>): Result.Result<Style, string> =>
  Result.all({
    ratePercent: readAttribute(attributes, "rate"),
    pitchPercent: readAttribute(attributes, "pitch"),
    rangePercent: readAttribute(attributes, "range"),
    volumeDb: readAttribute(attributes, "volume")
  })

const readAttribute = (
  attributes: Readonly<Record<string, string>>,
  name: keyof typeof scales
): Result.Result<number, string> => {
  const { names, valueOf }: Scale = scales[name]
  const written = attributes[name]
  if (written === undefined) return Result.succeed(names.default)
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

/** 120% and +20% are 120; the result is never below 0. */
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

interface Scale {
  readonly names: Readonly<Record<string, number>> & { readonly default: number }
  readonly valueOf: (sign: string, value: number, unit: string) => number | undefined
}

const scales = {
  rate: {
    names: { "x-slow": 50, slow: 75, medium: 100, default: 100, fast: 130, "x-fast": 170 },
    valueOf: rateOf
  },
  pitch: {
    names: { "x-low": 60, low: 80, medium: 100, default: 100, high: 125, "x-high": 160 },
    valueOf: pitchOf
  },
  range: {
    names: { "x-low": 30, low: 60, medium: 100, default: 100, high: 150, "x-high": 200 },
    valueOf: pitchOf
  },
  volume: {
    names: { silent: silentDb, "x-soft": -14, soft: -7, medium: 0, default: 0, loud: 5, "x-loud": 10 },
    valueOf: volumeOf
  }
} satisfies Readonly<Record<string, Scale>>

const row = (ratePercent: number, pitchPercent: number, rangePercent: number, volumeDb: number): Style => ({
  ratePercent,
  pitchPercent,
  rangePercent,
  volumeDb
})

/**
 * The thirteen emotions, as changes to how a voice speaks. Chosen so that any two of them can be distinguished by ear
 * on a voice without emotions of its own. Range is how far the pitch moves about its middle.
 */
export const emotions = {
  angry: row(112, 106, 155, 6),
  cheerful: row(108, 118, 150, 2),
  sad: row(80, 86, 55, -5),
  terrified: row(130, 140, 170, 4),
  relaxed: row(84, 94, 90, -4),
  fearful: row(116, 124, 110, -3),
  surprised: row(100, 130, 190, 3),
  calm: row(93, 98, 65, -1),
  assertive: row(98, 92, 125, 4),
  energetic: row(122, 110, 140, 4),
  warm: row(92, 104, 120, -2),
  direct: row(106, 97, 75, 2),
  bright: row(103, 114, 120, 0)
} as const satisfies Record<string, Style>

export type Emotion = keyof typeof emotions

export const isEmotion = (name: string): name is Emotion => Object.hasOwn(emotions, name)

const emphases = {
  strong: row(86, 114, 140, 4),
  moderate: row(93, 107, 120, 2),
  none: plainStyle,
  reduced: row(106, 95, 80, -3)
} as const satisfies Record<string, Style>

export type Emphasis = keyof typeof emphases

export const isEmphasis = (name: string): name is Emphasis => Object.hasOwn(emphases, name)

/** No nesting makes speech slower, lower or louder than this. */
const limits = {
  ratePercent: [50, 10_000],
  pitchPercent: [17, 200],
  rangePercent: [0, 400],
  volumeDb: [-96, 12]
} as const satisfies Record<keyof Style, readonly [number, number]>

const within = (name: keyof Style, value: number) => {
  const [least, most] = limits[name]
  return Math.round(Math.min(most, Math.max(least, value)) * 100) / 100
}

/** The style of text inside these elements. */
export const styleOf = (prosody: Style, emotion: Emotion | null, emphasis: Emphasis | null): Style => {
  const felt = emotion === null ? prosody : combineStyles(prosody, emotions[emotion])
  const final = emphasis === null ? felt : combineStyles(felt, emphases[emphasis])
  return {
    ratePercent: within("ratePercent", final.ratePercent),
    pitchPercent: within("pitchPercent", final.pitchPercent),
    rangePercent: within("rangePercent", final.rangePercent),
    volumeDb: within("volumeDb", final.volumeDb)
  }
}

export const sameStyle = (left: Style, right: Style): boolean =>
  left === right ||
  (left.ratePercent === right.ratePercent &&
    left.pitchPercent === right.pitchPercent &&
    left.rangePercent === right.rangePercent &&
    left.volumeDb === right.volumeDb)
