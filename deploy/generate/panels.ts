/** Short constructors for panels, and the expressions that most of them use. */
import type { Column, Panel } from "./dashboards.ts"

export const panel = (title: string, unit: string, expr: string, legend: string, says: string): Panel => ({
  title,
  unit,
  expr,
  legend,
  says
})

/** One number; red from `redFrom` on. */
export const stat = (title: string, unit: string, expr: string, says: string, redFrom?: number): Panel => ({
  ...panel(title, unit, expr, title, says),
  shape: { stat: true, ...(redFrom === undefined ? {} : { redFrom }) }
})

/** A row for each combination of labels that the columns' series have. */
export const table = (
  title: string,
  says: string,
  [first, ...columns]: readonly [Column, ...Array<Column>]
): Panel => ({
  ...panel(title, first.unit, first.expr, first.title, says),
  shape: { columns }
})

export const column = (title: string, unit: string, expr: string): Column => ({ title, unit, expr })

export const rate = (metric: string, by: string) => `sum by (${by}) (rate(${metric}[$__rate_interval]))`

/** The rise over the time that the board shows. */
export const rise = (metric: string, by = "") => {
  const sum = by === "" ? "sum" : `sum by (${by}) `
  return `${sum}(increase(${metric}[$__range]))`
}

export const quantiles = (metric: string, by = "") => {
  const groups = by === "" ? "le" : `le, ${by}`
  return `histogram_quantile(0.99, sum by (${groups}) (rate(${metric}_bucket[$__rate_interval])))`
}
