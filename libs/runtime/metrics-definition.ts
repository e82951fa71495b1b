/** A metric as data, declared by the room that counts it; docs/metrics.md is made from all of them. */

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
