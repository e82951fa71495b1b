/**
 * The metrics of a process: one registry, with handles made from definitions. A handle's methods are plain functions,
 * because hot paths call them. Every series carries the role that its handle was made for. The number of series per
 * metric is bounded: beyond the bound, new label values are counted as `other`.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client"
import { Role } from "./host.ts"

/** A metric as data, declared by the code that counts it; docs/metrics.md is made from all of them. */
interface Definition<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels: ReadonlyArray<Label>
}

/** The values of a counter's labels that are known before they occur, by label. */
type KnownValues<Label extends string> = { readonly [L in Label]?: ReadonlyArray<string> }
type NoneKnown = Readonly<Record<never, never>>

interface CounterDefinition<
  Label extends string = string,
  Known extends KnownValues<Label> = KnownValues<Label>
> extends Definition<Label> {
  readonly type: "counter"
  readonly values: Known
}
interface GaugeDefinition<Label extends string = string> extends Definition<Label> {
  readonly type: "gauge"
}
interface HistogramDefinition<Label extends string = string> extends Definition<Label> {
  readonly type: "histogram"
  readonly buckets: ReadonlyArray<number>
}
type MetricDefinition = CounterDefinition | GaugeDefinition | HistogramDefinition

/** With `values` for each label, every series begins at 0 with the process; see `CounterHandle.begin` for the others. */
export const defineCounter = <const Label extends string, const Known extends KnownValues<Label> = NoneKnown>({
  values,
  ...definition
}: Definition<Label> & { readonly values?: Known }): CounterDefinition<Label, Known> => ({
  type: "counter",
  values: values ?? ({} as Known),
  ...definition
})

export const defineGauge = <const Label extends string>(
  definition: Omit<GaugeDefinition<Label>, "type">
): GaugeDefinition<Label> => ({ type: "gauge", ...definition })

export const defineHistogram = <const Label extends string>(
  definition: Omit<HistogramDefinition<Label>, "type">
): HistogramDefinition<Label> => ({ type: "histogram", ...definition })

type Labels<Label extends string> = Readonly<Record<Label, string>>

type CountedLabels<Label extends string, Known extends KnownValues<Label>> = {
  readonly [L in Label]: L extends keyof Known
    ? Known[L] extends ReadonlyArray<infer Value extends string>
      ? Value
      : string
    : string
}

interface CounterHandle<Label extends string, Known extends KnownValues<Label> = NoneKnown> {
  readonly inc: (labels: CountedLabels<Label, Known>, by?: number) => void
  /**
   * Starts at 0 the series of a value learned at run time, such as an endpoint, with all known values of the other
   * labels. A series that first appears with its first event hides that event from `increase()`.
   */
  readonly begin: (labels: Labels<Exclude<Label, keyof Known>>) => void
  /** Removes what `begin` started, once nothing more will be counted for the value. */
  readonly end: (labels: Labels<Exclude<Label, keyof Known>>) => void
}
/** The handle of a declared counter. */
export type CounterOf<Definition> =
  Definition extends CounterDefinition<infer Label, infer Known> ? CounterHandle<Label, Known> : never

export interface GaugeHandle<Label extends string> {
  readonly set: (labels: Labels<Label>, value: number) => void
  /** Removes the series; a later value starts it anew. */
  readonly end: (labels: Labels<Label>) => void
}
export interface HistogramHandle<Label extends string> {
  readonly observe: (labels: Labels<Label>, value: number) => void
  /** Removes the series; a later value starts it anew. */
  readonly end: (labels: Labels<Label>) => void
}

/** Joined to a series by its `role`, it shows which release a figure comes from. */
export const buildInfo = defineGauge({
  name: "starling_build_info",
  help: "Always 1, for each role: the release and the commit that it runs; the commit is unknown outside images and checkouts.",
  labels: ["version", "commit"]
})

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
    readonly counter: <L extends string, K extends KnownValues<L>>(
      definition: CounterDefinition<L, K>
    ) => CounterHandle<L, K>
    readonly gauge: <L extends string>(definition: GaugeDefinition<L>) => GaugeHandle<L>
    readonly histogram: <L extends string>(definition: HistogramDefinition<L>) => HistogramHandle<L>
    /** All metrics of the process, in Prometheus' text format. */
    readonly text: Effect.Effect<string>
  }
>()("starling/runtime/Metrics") {
  /** The process' registry, with the current role as label. */
  static readonly layer = Layer.effect(
    Metrics,
    Effect.gen(function* () {
      const registry = yield* MetricsRegistry
      const role = yield* Role
      const counters = oncePerName((definition: CounterDefinition) => counterHandle(registry, role, definition))
      const gauges = oncePerName((definition: GaugeDefinition) => {
        const { child, end } = children(definition, role, gaugeOf(registry, definition), seriesMax)
        return { set: (labels: AnyLabels, value: number) => child(labels).set(value), end }
      })
      const histograms = oncePerName((definition: HistogramDefinition) => {
        const { child, end } = children(definition, role, histogramOf(registry, definition), histogramSeriesMax)
        return { observe: (labels: AnyLabels, value: number) => child(labels).observe(value), end }
      })
      return Metrics.of({
        counter: (definition) => counters(definition),
        gauge: (definition) => gauges(definition),
        histogram: (definition) => histograms(definition),
        text: Effect.promise(() => registry.metrics())
      })
    })
  )
  /** For tests: a registry of its own. */
  static readonly layerTest = Metrics.layer.pipe(Layer.provide(MetricsRegistry.layerEmpty))
}

type AnyLabels = Readonly<Record<string, string>>

const counterHandle = (registry: Registry, role: string, definition: CounterDefinition) => {
  const { child, count, has, end } = children(definition, role, counterOf(registry, definition), seriesMax)
  const begin = (learned: AnyLabels) => {
    for (const known of combinations(definition)) {
      const labels = { ...known, ...learned }
      if (!has(labels) && count() < zeroSeriesMax) child(labels).inc(0)
    }
  }
  if (definition.labels.every((label) => Object.hasOwn(definition.values, label))) begin({})
  return {
    inc: (labels: AnyLabels, by = 1) => child(labels).inc(by),
    begin,
    end: (learned: AnyLabels) => {
      for (const known of combinations(definition)) end({ ...known, ...learned })
    }
  }
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

// Ten thousand endpoints times a few outcomes. Beyond that, a label holds values that it should not.
const seriesMax = 50_000
// A histogram's series is a dozen counters: at ten thousand of them a scrape is tens of megabytes.
const histogramSeriesMax = 500
// Series that have counted nothing yet must neither crowd out others nor make a scrape long: 100 bytes each.
const zeroSeriesMax = 5_000

/** Every combination of the known values, without the labels learned at run time. */
const combinations = ({ labels, values }: CounterDefinition): ReadonlyArray<Readonly<Record<string, string>>> =>
  labels.reduce<ReadonlyArray<Readonly<Record<string, string>>>>(
    (made, label) => {
      const known = values[label]
      return known === undefined ? made : made.flatMap((one) => known.map((value) => ({ ...one, [label]: value })))
    },
    [{}]
  )

/** One handle per metric: hot paths ask for it on every call, and no second handle keeps what this one removes. */
const oncePerName = <D extends MetricDefinition, A>(make: (definition: D) => A) => {
  const made = new Map<string, A>()
  return (definition: D): A => {
    const found = made.get(definition.name) ?? make(definition)
    made.set(definition.name, found)
    return found
  }
}

interface Labelled<Child> {
  readonly labels: (...values: Array<string>) => Child
  readonly remove: (...values: Array<string>) => void
}

const children = <Child>(definition: MetricDefinition, role: string, metric: Labelled<Child>, seriesMax: number) => {
  const made = new Map<string, Child>()
  const [first, ...rest] = definition.labels
  const key = (labels: Readonly<Record<string, string>>) => (first === undefined ? "" : keyOf(labels, first, rest))
  const child = (labels: Readonly<Record<string, string>>): Child => {
    const own = key(labels)
    const known = made.get(own)
    if (known !== undefined) return known
    const isFull = made.size >= seriesMax
    const values = definition.labels.map((label) => (isFull ? "other" : (labels[label] ?? "")))
    const found = metric.labels(role, ...values)
    if (!isFull) made.set(own, found)
    return found
  }
  const end = (labels: Readonly<Record<string, string>>) => {
    // A value that was counted as `other` has no series of its own.
    if (made.delete(key(labels))) metric.remove(role, ...definition.labels.map((label) => labels[label] ?? ""))
  }
  const has = (labels: Readonly<Record<string, string>>) => made.has(key(labels))
  return { child, count: () => made.size, has, end }
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
    "Made from the definitions of metrics in the code by `./starling docs`. Served as `/metrics` beside `/livez` and `/readyz`.",
    "Every series carries the label `role`; the process' own metrics (`process_*`, `nodejs_*`) come with them.",
    "`./starling up` shows those of all its processes at one address, with the broker's (`nats_*`), named as",
    "prometheus-nats-exporter names them; `/metrics?of=process` leaves those of other processes out.",
    "Counters begin at 0: those whose labels the code knows with the process, those of an endpoint, a network, a provider or",
    "the like when that is learned, up to 5,000 series of a counter. So `increase()` sees the first event too.",
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
