/**
 * Captions of speech: its words in lines that can be read while they are heard. Where captions and lines break is what
 * costs least over the entire text: sentences and clauses stay together, and no caption passes too soon. Pure.
 */
import { type Captioned, lineMax, type Unit, unitsOf } from "./units.ts"

export interface Caption {
  readonly startMs: number
  readonly endMs: number
  /** One or two. */
  readonly lines: ReadonlyArray<string>
  readonly turn: number
}

export const captionsOf = (speech: Captioned, names?: ReadonlyArray<string>): ReadonlyArray<Caption> => {
  const text = measured(unitsOf(speech, names))
  const captions: Array<Caption> = []
  const ends = cheapestEnds(text)
  for (const [from, to] of ends) {
    const { startMs, endMs } = shown(text, from, to)
    const cut = secondLine(text, from, to)
    const lines = cut === to ? [textOf(text, from, to)] : [textOf(text, from, cut), textOf(text, cut, to)]
    captions.push({ startMs: Math.round(startMs), endMs: Math.round(endMs), lines, turn: text.units[from]?.turn ?? 0 })
  }
  return captions
}

/** Columns a second that everybody can read, and those that many cannot follow. */
const pace = { easy: 17, hard: 20 }
const shownMs = { min: 1_000, max: 7_000 }
/** A caption does not stay over a silence of so long. */
const silenceMsMax = 1_500

interface Text {
  readonly units: ReadonlyArray<Unit>
  /** The columns of all units before each one, spaces included. */
  readonly columns: Float64Array
  /** What it costs to have each unit in one caption with the one before it, added up. */
  readonly joins: Float64Array
}

const measured = (units: ReadonlyArray<Unit>): Text => {
  const [columns, joins] = [new Float64Array(units.length + 1), new Float64Array(units.length + 1)]
  for (const [at, unit] of units.entries()) {
    const before = units[at - 1]
    const silenceMs = before === undefined ? 0 : unit.startMs - before.endMs
    columns[at + 1] = (columns[at] ?? 0) + unit.columns + (unit.isSpaced ? 1 : 0)
    joins[at + 1] = (joins[at] ?? 0) + (before?.ends === "sentence" ? 0.7 : 0) + (silenceMs > silenceMsMax ? 4 : 0)
  }
  return { units, columns, joins }
}

const between = (sums: Float64Array, from: number, to: number) => (sums[to] ?? 0) - (sums[from] ?? 0)

const widthOf = ({ columns, units }: Text, from: number, to: number) =>
  between(columns, from, to) - (units[from]?.isSpaced === true ? 1 : 0)

/** From when to when a caption is shown: longer than it is heard where it needs more time to be read. */
const shown = (text: Text, from: number, to: number) => {
  const { units } = text
  const startMs = units[from]?.startMs ?? 0
  const heardMs = (units[to - 1]?.endMs ?? startMs) - startMs
  const neededMs = Math.max(shownMs.min, (widthOf(text, from, to) / pace.easy) * 1_000, heardMs)
  const endMs = Math.min(startMs + neededMs, units[to]?.startMs ?? Infinity)
  return { startMs, endMs: Math.max(endMs, startMs + 1) }
}

/** The captions that cost least together, as ranges of units. */
const cheapestEnds = (text: Text): ReadonlyArray<readonly [from: number, to: number]> => {
  const { units } = text
  const ends = new Uint32Array(units.length)
  const costs = new Float64Array(units.length + 1)
  let line = units.length
  for (let from = units.length - 1; from >= 0; from -= 1) {
    while (widthOf(text, from, line) > lineMax) line -= 1
    let [best, end] = [Infinity, from + 1]
    for (let to = from + 1; to <= units.length && (to <= line || widthOf(text, line, to) <= lineMax); to += 1) {
      const cost = costOf(text, from, to) + (to > line ? 0.2 : 0) + (costs[to] ?? 0)
      if (cost < best) [best, end] = [cost, to]
      if (units[to - 1]?.ends === "turn") break
    }
    ends[from] = end
    costs[from] = best
  }
  const ranges: Array<readonly [number, number]> = []
  for (let from = 0, to = 0; from < units.length; from = to) {
    to = ends[from] ?? units.length
    ranges.push([from, to])
  }
  return ranges
}

const breakCosts = {
  caption: { turn: 0, sentence: 0, clause: 0.6, word: 2, nothing: 100 },
  line: { turn: 0, sentence: 0, clause: 0.1, word: 0.3, nothing: 1 }
} as const satisfies Record<string, Record<Unit["ends"], number>>

const costOf = (text: Text, from: number, to: number): number => {
  const { startMs, endMs } = shown(text, from, to)
  const seconds = (endMs - startMs) / 1_000
  const speed = widthOf(text, from, to) / seconds
  const hurry = Math.max(0, speed - pace.easy) / 3 + Math.max(0, speed - pace.hard)
  const short = 2 * Math.max(0, shownMs.min / 1_000 - seconds)
  const long = 4 * Math.max(0, seconds - shownMs.max / 1_000)
  const broken = breakCosts.caption[text.units[to - 1]?.ends ?? "turn"]
  return 1 + broken + between(text.joins, from + 1, to) + hurry + short + long
}

/** Where the second line begins; at the end if one holds the text. */
const secondLine = (text: Text, from: number, to: number) => {
  if (widthOf(text, from, to) <= lineMax) return to
  let [best, cut] = [Infinity, to]
  for (let at = from + 1; at < to && widthOf(text, from, at) <= lineMax; at += 1) {
    const [above, below] = [widthOf(text, from, at), widthOf(text, at, to)]
    if (below > lineMax) continue
    // A longer second line hides less of the picture than a longer first one.
    const uneven = (Math.abs(below - above) / lineMax) * (below < above ? 1 : 0.5)
    const cost = breakCosts.line[text.units[at - 1]?.ends ?? "word"] + 0.3 * uneven
    if (cost < best) [best, cut] = [cost, at]
  }
  return cut
}

const textOf = ({ units }: Text, from: number, to: number) =>
  units
    .slice(from, to)
    .map(({ isSpaced, text }, at) => (at > 0 && isSpaced ? ` ${text}` : text))
    .join("")
