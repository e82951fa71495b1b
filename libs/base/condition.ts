/**
 * What can be wrong with a fleet, and what to do about it. Each condition is declared once, by its product, and read
 * by the console, by `doctor` and `top`, by Prometheus' alerts and by the runbooks. Data only.
 */

/** `critical` pages somebody; `warning` is seen within the working day; `info` is worth knowing. */
export type Severity = "critical" | "warning" | "info"

export interface Condition {
  /** Its one name: of the alert, of the runbook, and in the API. */
  readonly name: string
  readonly severity: Severity
  /** One sentence. `{endpoint}` is a label of what is seen; `{value}`, `{value:percent}`, `{value:duration}` the figure. */
  readonly title: string
  /** Whom it hurts and how, in the words of those who call Starling. */
  readonly hurts: string
  readonly seen: Sight
  /** How long Prometheus sees it before it alerts: "5m". The console shows it sooner. */
  readonly after: string
  /** Conditions that explain it away while they hold, by their names. */
  readonly causedBy: ReadonlyArray<string>
  /** What to run, in order: first what shows the cause, then what mends it. `{endpoint}` is a label of what is seen. */
  readonly commands: ReadonlyArray<string>
  readonly runbook: Runbook
}

/** Each a paragraph in Markdown. */
export interface Runbook {
  readonly means: string
  readonly lookAt: string
  readonly act: string
}

/** Conditions of one product, under the heading of their runbooks. */
export interface ConditionGroup {
  readonly name: string
  readonly title: string
  readonly conditions: ReadonlyArray<Condition>
}

/** The series of a metric whose labels fit. */
export interface Series {
  readonly metric: string
  readonly where?: Readonly<Record<string, string | ReadonlyArray<string> | { readonly not: string }>>
}

export type Comparison = ">" | "<" | "=="

/** How a condition is seen in the metrics of all processes. Grouped by the labels of `by`. */
export type Sight =
  /** A process that is listed, and does not answer. */
  | { readonly kind: "down" }
  | Level
  /**
   * The part of what happened, of all that happened. Nothing is seen where nothing happened in ten minutes; the console
   * looks over half a minute, and needs two.
   */
  | {
      readonly kind: "share"
      readonly part: Series
      /** Several are added up. */
      readonly whole: ReadonlyArray<Series>
      readonly by: ReadonlyArray<string>
      readonly above: number
    }
  /** How often a second. */
  | { readonly kind: "pace"; readonly series: Series; readonly by: ReadonlyArray<string>; readonly above: number }
  /** How often within a range, with series that began within it counted whole; `less`: what is taken from it. */
  | {
      readonly kind: "rise"
      readonly series: Series
      readonly less?: Series
      readonly by: ReadonlyArray<string>
      readonly within: string
      readonly above: number
    }
  /** The 99th percentile of a histogram, in its unit. */
  | {
      readonly kind: "p99"
      readonly histogram: string
      readonly by: ReadonlyArray<string>
      readonly within: string
      readonly above: number
    }
  /** Seconds since the newest time that a gauge shows, in epoch seconds; 0 is no time. */
  | { readonly kind: "age"; readonly series: Series; readonly by: ReadonlyArray<string>; readonly above: number }
  /** A gauge as a part of another with the same labels. */
  | {
      readonly kind: "fill"
      readonly series: Series
      readonly of: Series
      readonly by: ReadonlyArray<string>
      readonly above: number
    }

/** The value of a gauge: `each` series alone, or the most, the least or the sum of those with the same labels. */
export interface Level {
  readonly kind: "level"
  readonly of: "each" | "most" | "least" | "sum"
  readonly series: Series
  /** Before a sum: each replica shows the same, so the most of them is taken for these labels. */
  readonly per?: ReadonlyArray<string>
  readonly by: ReadonlyArray<string>
  readonly is: readonly [Comparison, number]
  /** Only while it grows. */
  readonly grows?: true
  /** Levels that exclude what has the same labels. */
  readonly unless?: ReadonlyArray<Pick<Level, "series" | "by" | "is">>
}
