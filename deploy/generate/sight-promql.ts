/** How Prometheus sees a condition: its expression, from the same declaration that the console reads. Pure. */
import type { Level, Series, Sight } from "#base/condition"
import { risen } from "./risen.ts"

// A call in ten minutes is enough to be judged, and an hour-old one is not judged any more.
const shareRange = "10m"
const paceRange = "5m"

export const seenByPrometheus = (sight: Sight): string => {
  switch (sight.kind) {
    case "down":
      return 'up{job="starling"} == 0'
    case "level":
      return levelOf(sight)
    case "share": {
      const { part, whole, by, above } = sight
      const all = whole.map((series) => rated(series, by, shareRange))
      // A series that has not begun yet makes no sum.
      const total = all.length === 1 ? (all[0] ?? "") : `(${all.map((each) => `(${each} or vector(0))`).join(" + ")})`
      return `${rated(part, by, shareRange)} / ${total} > ${above}`
    }
    case "pace":
      return `${rated(sight.series, sight.by, paceRange)} > ${sight.above}`
    case "rise": {
      const { series, less, by, within, above } = sight
      const rise = `${summed(by)} ${risen(selectorOf(series), within)}`
      return less === undefined
        ? `${rise} > ${above}`
        : `${rise} - ${summed(by)} ${risen(selectorOf(less), within)} > ${above}`
    }
    case "p99": {
      const { histogram, by, within, above } = sight
      return `histogram_quantile(0.99, sum by (${[...by, "le"].join(", ")}) (rate(${histogram}_bucket[${within}]))) > ${above}`
    }
    case "age":
      return `time() - ${grouped("max", sight.by, `${selectorOf(sight.series)} > 0`)} > ${sight.above}`
    case "fill":
      return `${grouped("max", sight.by, selectorOf(sight.series))} / (${grouped("max", sight.by, selectorOf(sight.of))} > 0) > ${sight.above}`
  }
}

const operators = { most: "max", least: "min", sum: "sum" } as const

const levelOf = ({ of, series, per, by, is: [compare, limit], grows, unless = [] }: Level): string => {
  const without = unless
    .map((level) => ` unless on (${level.by.join(", ")}) (${levelOf({ kind: "level", of: "most", ...level })})`)
    .join("")
  const selector = selectorOf(series)
  if (of === "each") return `${selector} ${compare} ${limit}${without}`
  const parts = per === undefined ? selector : `${grouped("max", [...per, ...by], selector)}${without}`
  const value = grouped(operators[of], by, parts)
  const seen = `${value} ${compare} ${limit}${per === undefined ? without : ""}`
  return grows === true ? `${seen} and deriv((${value})[10m:1m]) > 0` : seen
}

const summed = (by: ReadonlyArray<string>) => (by.length === 0 ? "sum" : `sum by (${by.join(", ")})`)

const grouped = (operator: string, by: ReadonlyArray<string>, inner: string) =>
  by.length === 0 ? `${operator}(${inner})` : `${operator} by (${by.join(", ")}) (${inner})`

const rated = (series: Series, by: ReadonlyArray<string>, range: string) =>
  grouped("sum", by, `rate(${selectorOf(series)}[${range}])`)

const selectorOf = ({ metric, where = {} }: Series) => {
  const matchers = Object.entries(where).map(([label, wanted]) => {
    if (typeof wanted === "string") return `${label}="${wanted}"`
    return "not" in wanted ? `${label}!="${wanted.not}"` : `${label}=~"${wanted.join("|").replaceAll("$", "[$]")}"`
  })
  return matchers.length === 0 ? metric : `${metric}{${matchers.join(",")}}`
}
