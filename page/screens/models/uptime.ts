/** How often a model answered, as numbers, bars and words. Pure. */
import type { Answer } from "../../api/client.ts"
import { count, countOf } from "../../design/words.ts"

export type ModelSeen = Answer<"GET", "/models">["items"][number]
export type CallHistory = ModelSeen["lastDay"]
export type CallTotals = ModelSeen["providers"][number]["lastDay"]

export type BarState = "none" | "all" | "some"

export interface Bar {
  readonly at: number
  readonly state: BarState
  /** Calls that were answered, of `calls`. */
  readonly answered: number
  readonly calls: number
}

export interface Strip {
  /** The whole window, which the bars share. */
  readonly windowMs: number
  readonly bars: number
  /** What one bar is. */
  readonly unit: "hour" | "day"
}

export const ofDay: Strip = { windowMs: 86_400_000, bars: 24, unit: "hour" }
export const ofMonth: Strip = { windowMs: 2_592_000_000, bars: 30, unit: "day" }

/** Bars of one width over a window, oldest first. */
export const barsOf = ({ from, series }: CallHistory, { windowMs, bars }: Strip): ReadonlyArray<Bar> => {
  const [fromMs, barMs] = [Date.parse(from), windowMs / bars]
  const sums = Array.from({ length: bars }, () => ({ answered: 0, calls: 0 }))
  for (const { at, answered, failed, leftAlone } of series) {
    const sum = sums[Math.floor((Date.parse(at) - fromMs) / barMs)]
    if (sum === undefined) continue
    sum.answered += answered
    sum.calls += answered + failed + leftAlone
  }
  return sums.map(({ answered, calls }, index) => ({
    at: fromMs + index * barMs,
    state: calls === 0 ? "none" : answered === calls ? "all" : "some",
    answered,
    calls
  }))
}

const hour = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" })

const timeOf = (at: number, unit: Strip["unit"]) => (unit === "hour" ? hour : day).format(at)

/** `14:00: 9 of 10 calls answered`. */
export const barText = ({ at, state, answered, calls }: Bar, unit: Strip["unit"]): string => {
  const said =
    state === "none"
      ? "no calls"
      : state === "all"
        ? `${countOf(calls, "call")}, all answered`
        : `${count(answered)} of ${countOf(calls, "call")} answered`
  return `${timeOf(at, unit)}: ${said}`
}

// More than these would be read out for a minute.
const namedMax = 5

/** The strip in words: how many spans were whole, and which were not. */
export const stripText = (bars: ReadonlyArray<Bar>, unit: Strip["unit"]): string => {
  const of = (state: BarState) => bars.filter((bar) => bar.state === state)
  const broken = of("some")
  const named = broken.slice(-namedMax).map((bar) => barText(bar, unit))
  const more = broken.length - named.length
  return [
    `${countOf(of("all").length, unit)} with every call answered`,
    `${count(of("none").length)} without calls`,
    ...(broken.length === 0 ? [] : [`${count(broken.length)} with failures: ${named.join("; ")}`]),
    ...(more > 0 ? [`${count(more)} earlier`] : [])
  ].join(", ")
}
