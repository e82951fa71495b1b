/** docs/metrics.md: every metric of the fleet, made from the definitions. Pure. */
import type { MetricDefinition } from "./Metrics.ts"

export interface MetricsSection {
  readonly title: string
  readonly metrics: ReadonlyArray<MetricDefinition>
}

export const metricsDocument = (sections: ReadonlyArray<MetricsSection>): string =>
  [
    "# Metrics",
    "",
    "Made from the rooms' `metrics.ts` by `./starling docs`. Served as `/metrics` beside `/livez` and `/readyz`.",
    "Every series carries the label `role`; the process' own metrics (`process_*`, `nodejs_*`) come with them.",
    "",
    ...sections.flatMap(({ title, metrics }) => [
      `## ${title}`,
      "",
      "| metric | type | labels | meaning |",
      "|---|---|---|---|",
      ...metrics.map(row),
      ""
    ])
  ].join("\n")

const row = (metric: MetricDefinition) => {
  const labels = metric.labels.length === 0 ? "" : metric.labels.map((label) => `\`${label}\``).join(", ")
  const buckets = metric.type === "histogram" ? ` Buckets: ${metric.buckets.join(", ")}.` : ""
  return `| \`${metric.name}\` | ${metric.type} | ${labels} | ${metric.help}${buckets} |`
}
