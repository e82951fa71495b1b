/** The history of a thing as bars, lines and words. Pure. */
import type { Answer } from "../../api/client.ts"
import { duration, figure, percent, rate } from "../../design/words.ts"

export type History = Answer<"GET", "/history">
export type Point = History["items"][number]["points"][number]
export type Range = "hour" | "day" | "month"

export const rangeWords: Readonly<Record<Range, string>> = { hour: "Last hour", day: "Last day", month: "Last 30 days" }

/** The points by their place in the range; undefined where nobody looked. */
export const placesOf = (
  { from, to, spanSeconds }: Pick<History, "from" | "to" | "spanSeconds">,
  points: ReadonlyArray<Point>
): ReadonlyArray<Point | undefined> => {
  const fromMs = Date.parse(from)
  const placeOf = (at: number) => Math.floor((at - fromMs) / (spanSeconds * 1_000))
  const byPlace = new Map(points.map((point) => [placeOf(Date.parse(point.at)), point]))
  return Array.from({ length: placeOf(Date.parse(to)) + 1 }, (_, place) => byPlace.get(place))
}

export const failedOf = ({ perSecond, success }: Point) => perSecond * (1 - (success ?? 1))

/** Bars from the bottom of a box, as a path; `heights` are shares of it. */
export const barsPath = (heights: ReadonlyArray<number>, height: number): string =>
  heights
    .map((share, place) =>
      share <= 0 ? "" : `M${place} ${height}v${-rounded(share * height)}h0.8v${rounded(share * height)}z`
    )
    .join("")

/** A line through the middle of each place, broken where a value is missing. */
export const linePath = (shares: ReadonlyArray<number | undefined>, height: number): string =>
  shares
    .map((share, place) => {
      if (share === undefined) return ""
      const isFirst = shares[place - 1] === undefined
      const at = `${place + 0.4} ${rounded(height - share * height)}`
      // A value alone is a dash.
      return isFirst ? `M${at}h${shares[place + 1] === undefined ? 0.6 : 0}` : `L${at}`
    })
    .join("")

const rounded = (value: number) => Math.round(value * 100) / 100

const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" })
const dayAndClock = new Intl.DateTimeFormat("en", {
  month: "short",
  day: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23"
})

const wordOf = (point: Point): string => {
  const { success, p95Ms } = point
  return [
    rate(point.perSecond),
    ...(success === null ? [] : [`${percent(success)} succeeded`]),
    ...(p95Ms === null ? [] : [`95 of 100 within ${duration(p95Ms)}`])
  ].join(", ")
}

/** A chart for who cannot see it: the newest point, the busiest, the worst, and what nobody saw. */
export const chartText = (places: ReadonlyArray<Point | undefined>, range: Range): string => {
  const points = places.flatMap((point) => point ?? [])
  const last = points.at(-1)
  if (last === undefined) return `${rangeWords[range]}: nothing was seen`
  const at = (point: Point) => (range === "month" ? dayAndClock : clock).format(Date.parse(point.at))
  const busiest = points.reduce((most, point) => (point.perSecond > most.perSecond ? point : most))
  const worst = points.reduce((least, point) => ((point.success ?? 1) < (least.success ?? 1) ? point : least))
  const gaps = places.length - points.length
  return [
    `${rangeWords[range]}: now ${wordOf(last)}`,
    `most at ${at(busiest)} with ${rate(busiest.perSecond)}`,
    ...((worst.success ?? 1) < 1 ? [`worst at ${at(worst)} with ${percent(worst.success ?? 1)} succeeded`] : []),
    ...(gaps > 0 ? [`${figure((100 * gaps) / places.length)} % not seen`] : [])
  ].join("; ")
}

/** When a range begins. */
export const startText = (from: string, range: Range): string =>
  (range === "hour" ? clock : dayAndClock).format(Date.parse(from))

/** What the highest bar and the highest line are. */
export const mostText = (points: ReadonlyArray<Point>): string => {
  const slowest = Math.max(0, ...points.map(({ p95Ms }) => p95Ms ?? 0))
  const most = `up to ${rate(Math.max(0, ...points.map(({ perSecond }) => perSecond)))}`
  return slowest === 0 ? most : `${most}, ${duration(slowest)}`
}

/** The whole range in figures: the share that succeeded, and the median of the latencies shown. */
export const figuresOf = (points: ReadonlyArray<Point>) => {
  const calls = points.reduce((sum, { perSecond }) => sum + perSecond, 0)
  const failed = points.reduce((sum, point) => sum + failedOf(point), 0)
  const timed = points.filter(({ p95Ms }) => p95Ms !== null)
  const weight = timed.reduce((sum, { perSecond }) => sum + perSecond, 0)
  const mean = (part: "p50Ms" | "p95Ms") =>
    weight === 0 ? null : timed.reduce((sum, point) => sum + (point[part] ?? 0) * point.perSecond, 0) / weight
  return {
    perSecond: points.at(-1)?.perSecond ?? null,
    success: calls === 0 ? null : (calls - failed) / calls,
    p50Ms: mean("p50Ms"),
    p95Ms: mean("p95Ms")
  }
}
