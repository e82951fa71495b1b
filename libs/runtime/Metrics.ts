/**
 * The metrics of a process: one registry, handles made from definitions. A handle's methods are plain functions,
 * because hot paths call them; every series carries the role for which the handle was made. The number of series per
 * metric is bounded: past it, new label values are counted as `other`.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client"
import { Role } from "./process.ts"

/** A metric as data, declared by the code that counts it; docs/metrics.md is made from all of them. */
interface Definition<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels: ReadonlyArray<Label>
}

export interface CounterDefinition<Label extends string = string> extends Definition<Label> {
  readonly type: "counter"
}
export interface GaugeDefinition<Label extends string = string> extends Definition<Label> {
  readonly type: "gauge"
}
export interface HistogramDefinition<Label extends string = string> extends Definition<Label> {
  readonly type: "histogram"
  readonly buckets: ReadonlyArray<number>
}
export type MetricDefinition = CounterDefinition | GaugeDefinition | HistogramDefinition

export const defineCounter = <const Label extends string>(
  definition: Omit<CounterDefinition<Label>, "type">
): CounterDefinition<Label> => ({ type: "counter", ...definition })

export const defineGauge = <const Label extends string>(
  definition: Omit<GaugeDefinition<Label>, "type">
): GaugeDefinition<Label> => ({ type: "gauge", ...definition })

export const defineHistogram = <const Label extends string>(
  definition: Omit<HistogramDefinition<Label>, "type">
): HistogramDefinition<Label> => ({ type: "histogram", ...definition })

type Labels<Label extends string> = Readonly<Record<Label, string>>

export interface CounterHandle<Label extends string> {
  readonly inc: (labels: Labels<Label>, by?: number) => void
}
export interface GaugeHandle<Label extends string> {
  readonly set: (labels: Labels<Label>, value: number) => void
}
export interface HistogramHandle<Label extends string> {
  readonly observe: (labels: Labels<Label>, value: number) => void
}

/** The registry that all roles of one process share. */
export class MetricsRegistry extends Context.Service<MetricsRegistry, Registry>()("starling/runtime/MetricsRegistry") {
  /** Includes the metrics of the process itself. */
  static readonly layer = Layer.sync(MetricsRegistry, () => {
    const registry = new Registry()
    collectDefaultMetrics({ register: registry })
    return registry
  })
  static readonly layerEmpty = Layer.sync(MetricsRegistry, () => new Registry())
}

export class Metrics extends Context.Service<
  Metrics,
  {
    readonly counter: <L extends string>(definition: CounterDefinition<L>) => CounterHandle<L>
    readonly gauge: <L extends string>(definition: GaugeDefinition<L>) => GaugeHandle<L>
    readonly histogram: <L extends string>(definition: HistogramDefinition<L>) => HistogramHandle<L>
    /** All metrics of the process, in Prometheus' text format. */
    readonly text: Effect.Effect<string>
  }
>()("starling/runtime/Metrics") {
  /** The process' registry, with the present role as label. */
  static readonly layer = Layer.effect(
    Metrics,
    Effect.gen(function* () {
      const registry = yield* MetricsRegistry
      const role = yield* Role
      return Metrics.of({
        counter: (definition) => {
          const child = children(definition, role, counterOf(registry, definition), seriesMax)
          return { inc: (labels, by = 1) => child(labels).inc(by) }
        },
        gauge: (definition) => {
          const child = children(definition, role, gaugeOf(registry, definition), seriesMax)
          return { set: (labels, value) => child(labels).set(value) }
        },
        histogram: (definition) => {
          const child = children(definition, role, histogramOf(registry, definition), histogramSeriesMax)
          return { observe: (labels, value) => child(labels).observe(value) }
        },
        text: Effect.promise(() => registry.metrics())
      })
    })
  )
  /** For tests: a registry of its own. */
  static readonly layerTest = Metrics.layer.pipe(Layer.provide(MetricsRegistry.layerEmpty))
}

const settings = (registry: Registry, definition: MetricDefinition) => ({
  name: definition.name,
  help: definition.help,
  labelNames: ["role", ...definition.labels],
  registers: [registry]
})

const counterOf = (registry: Registry, definition: MetricDefinition) =>
  (registry.getSingleMetric(definition.name) ?? new Counter(settings(registry, definition))) as Counter
const gaugeOf = (registry: Registry, definition: MetricDefinition) =>
  (registry.getSingleMetric(definition.name) ?? new Gauge(settings(registry, definition))) as Gauge
const histogramOf = (registry: Registry, definition: HistogramDefinition) =>
  (registry.getSingleMetric(definition.name) ??
    new Histogram({ ...settings(registry, definition), buckets: [...definition.buckets] })) as Histogram

// Ten thousand endpoints times a few outcomes; beyond that a label holds values that it should not.
const seriesMax = 50_000
// A histogram's series is a dozen counters: at ten thousand of them a scrape is tens of megabytes.
const histogramSeriesMax = 500

const children = <Child>(
  definition: MetricDefinition,
  role: string,
  metric: { readonly labels: (...values: Array<string>) => Child },
  seriesMax: number
) => {
  const made = new Map<string, Child>()
  const [first, ...rest] = definition.labels
  return (labels: Readonly<Record<string, string>>): Child => {
    const key = first === undefined ? "" : keyOf(labels, first, rest)
    const known = made.get(key)
    if (known !== undefined) return known
    const isFull = made.size >= seriesMax
    const values = definition.labels.map((label) => (isFull ? "other" : (labels[label] ?? "")))
    const child = metric.labels(role, ...values)
    if (!isFull) made.set(key, child)
    return child
  }
}

const keyOf = (labels: Readonly<Record<string, string>>, first: string, rest: ReadonlyArray<string>) => {
  let key = labels[first] ?? ""
  for (const label of rest) key += `\n${labels[label] ?? ""}`
  return key
}

/** Observes how long work took, whether it succeeded or not. */
export const timed = Effect.fnUntraced(function* <A, E, R>(
  observe: (seconds: number) => void,
  work: Effect.Effect<A, E, R>
) {
  const startedAt = yield* Clock.currentTimeNanos
  const result = yield* Effect.exit(work)
  observe(Number((yield* Clock.currentTimeNanos) - startedAt) / 1e9)
  return yield* result
})

interface MetricsSection {
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
