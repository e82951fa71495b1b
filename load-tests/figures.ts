/** What a scenario found: figures with the target each is held to, and series for the plots. */
export interface Figure {
  readonly scenario: string
  readonly name: string
  readonly value: number
  readonly unit: string
  /** The target as text, and whether it is met; absent for what is only shown. */
  readonly target?: string
  readonly met?: boolean
}

export interface Series {
  readonly title: string
  readonly unit: string
  /** Where the values stand; without it, at equal distances. */
  readonly x?: { readonly unit: string; readonly values: ReadonlyArray<number>; readonly isLogarithmic?: boolean }
  readonly lines: ReadonlyArray<{ readonly name: string; readonly values: ReadonlyArray<number> }>
}

export interface Findings {
  readonly figures: ReadonlyArray<Figure>
  readonly series: ReadonlyArray<Series>
}

export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const atMost = (limit: number, value: number, unit: string) => ({
  target: `< ${Number(limit.toFixed(2))} ${unit}`,
  met: value < limit
})

export const atLeast = (limit: number, value: number, unit: string) => ({
  target: `>= ${limit} ${unit}`,
  met: value >= limit
})

/** A cumulative distribution as a hundred points, small enough to plot. */
export const distribution = (values: ReadonlyArray<number>) =>
  Array.from({ length: 100 }, (_, index) => percentile(values, index / 100))

// In the order in which they were made: what a part that does not come to its end has measured until then.
let made: Array<Figure> = []

/** Those that were made since it was asked last. */
export const takeMade = (): ReadonlyArray<Figure> => {
  const taken = made
  made = []
  return taken
}

let failed: Array<unknown> = []

/** A part goes on with what it has, and is not whole. */
export const noteFailure = (error: unknown) => void failed.push(error)

/** Those that were noted since it was asked last. */
export const takeFailures = (): ReadonlyArray<unknown> => {
  const taken = failed
  failed = []
  return taken
}

/** Makes the figures of one scenario. */
export const figuresOf =
  (scenario: string) =>
  (name: string, value: number, unit: string, held: Pick<Figure, "target" | "met"> = {}): Figure => {
    const figure = { scenario, name, value, unit, ...held }
    made.push(figure)
    return figure
  }

export const exactly = (wanted: number, value: number) => ({ target: String(wanted), met: value === wanted })

export const joined = (findings: ReadonlyArray<Findings>): Findings => ({
  figures: findings.flatMap((found) => found.figures),
  series: findings.flatMap((found) => found.series)
})
