/** Short constructors for panels, and the two expressions that most of them use. */
import type { Panel } from "./dashboards.ts"

export const panel = (title: string, unit: string, expr: string, legend: string, says: string): Panel => ({
  title,
  unit,
  expr,
  legend,
  says
})

export const rate = (metric: string, by: string) => `sum by (${by}) (rate(${metric}[5m]))`

export const quantiles = (metric: string, by = "") => {
  const groups = by === "" ? "le" : `le, ${by}`
  return `histogram_quantile(0.99, sum by (${groups}) (rate(${metric}_bucket[5m])))`
}
