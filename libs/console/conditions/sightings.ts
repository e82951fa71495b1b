/** What is seen of a condition in the metrics of all processes: the labels of each thing it holds for. Pure. */
import type { Comparison, Level, Series, Sight } from "#base/condition"
import { quantileOf, type SeriesSample, type Window } from "#console/readings"

export interface Observed {
  /** Over the last half minute. */
  readonly window: Window
  readonly nowMs: number
  readonly processes: ReadonlyArray<{
    readonly url: string
    readonly roles: ReadonlyArray<string>
    readonly answers: boolean
    /** The checks of `/readyz` that fail, with their reasons. */
    readonly failing: ReadonlyArray<readonly [check: string, reason: string]>
  }>
}

type Labels = Readonly<Record<string, string>>

export interface Sighting {
  readonly labels: Labels
  /** In the unit of its metric; a share is at most 1. */
  readonly value: number
  /** Of a share, what most of it was, by the labels that are left: `status_class 401`. */
  readonly mostly?: string
}

export const sightingsOf = (sight: Sight, observed: Observed): ReadonlyArray<Sighting> => {
  const { window } = observed
  switch (sight.kind) {
    case "down":
      return observed.processes
        .filter(({ answers }) => !answers)
        .map(({ url, roles }) => ({ labels: { pod: placeOf(url), role: roles.join(", ") }, value: 0 }))
    case "level":
      return levelIn(sight, window)
    case "share":
      return grouped(rising(window, sight.part), sight.by, (sample) => sample)
        .flatMap(({ labels, values: samples }) => {
          const values = samples.map(({ rise }) => rise)
          const mostly = mostOf(samples, sight)
          const whole = sight.whole.flatMap((series) => grouped(rising(window, series), sight.by, ({ rise }) => rise))
          const all = whole.filter((other) => sameLabels(other.labels, labels)).flatMap((other) => other.values)
          if (sum(values) < shareCountMin) return []
          return [{ labels, value: sum(values) / sum(all), ...(mostly === "" ? {} : { mostly }) }]
        })
        .filter(({ value }) => value > sight.above)
    case "pace":
      return grouped(rising(window, sight.series), sight.by, ({ rise }) => rise)
        .map(({ labels, values }) => ({ labels, value: sum(values) / window.seconds }))
        .filter(({ value }) => value > sight.above)
    case "rise":
      return riseIn(sight, window)
    case "p99":
      return p99In(sight, window)
    case "age":
      return grouped(
        found(window, sight.series).filter(({ value }) => value > 0),
        sight.by,
        ({ value }) => value
      )
        .map(({ labels, values }) => ({ labels, value: observed.nowMs / 1_000 - Math.max(...values) }))
        .filter(({ value }) => value > sight.above)
    case "fill":
      return fillIn(sight, window)
  }
}

// One call that fails while a process restarts is no state of the fleet; Prometheus judges over ten minutes.
const shareCountMin = 2

/** The labels of the series that rose most, without those that name the thing or a process. */
const mostOf = (samples: ReadonlyArray<Rising>, { by }: Of<"share">) => {
  const most = samples.toSorted((left, right) => right.rise - left.rise)[0]?.labels ?? {}
  return Object.entries(most)
    .filter(([label]) => !by.includes(label) && !ofProcess.has(label))
    .map(([label, value]) => `${label} ${value}`)
    .join(", ")
}
const ofProcess = new Set(["pod", "role", "instance"])

interface Rising extends SeriesSample {
  readonly rise: number
}

/** Nothing has risen before there is an earlier reading. A counter that fell has begun again at zero. */
const rising = (window: Window, series: Series): ReadonlyArray<Rising> =>
  window.seconds === 0
    ? []
    : found(window, series).map((sample) => ({
        ...sample,
        rise: sample.before === undefined || sample.value < sample.before ? sample.value : sample.value - sample.before
      }))

const levelIn = (level: Level, window: Window): ReadonlyArray<Sighting> => {
  const left = (level.unless ?? []).reduce(
    (samples, unless) => {
      const excluded = levelIn({ kind: "level", of: "most", ...unless }, window)
      return samples.filter((sample) => !excluded.some(({ labels }) => sameLabels(labels, labelled(sample, unless.by))))
    },
    found(window, level.series)
  )
  const [compare, limit] = level.is
  const now = valuesOf(level, left, ({ value }) => value)
  const before = level.grows ? valuesOf(level, left, (sample) => sample.before ?? sample.value) : []
  return now.filter(
    ({ labels, value }) =>
      isSeen(value, compare, limit) &&
      (level.grows !== true || before.some((was) => sameLabels(was.labels, labels) && was.value < value))
  )
}

const valuesOf = (
  { of, per, by }: Level,
  samples: ReadonlyArray<SeriesSample>,
  valueOf: (sample: SeriesSample) => number
): ReadonlyArray<Sighting> => {
  if (of === "each") return samples.map((sample) => ({ labels: labelled(sample, by), value: valueOf(sample) }))
  const parts =
    per === undefined
      ? grouped(samples, by, valueOf)
      : grouped(
          grouped(samples, [...per, ...by], valueOf).map(({ labels, values }) => ({
            labels,
            value: Math.max(...values)
          })),
          by,
          ({ value }) => value
        )
  return parts.map(({ labels, values }) => ({ labels, value: folds[of](values) }))
}

const sum = (values: ReadonlyArray<number>) => values.reduce((total, value) => total + value, 0)
const folds = {
  most: (values: ReadonlyArray<number>) => Math.max(...values),
  least: (values: ReadonlyArray<number>) => Math.min(...values),
  sum
}

const isSeen = (value: number, compare: Comparison, limit: number) =>
  compare === ">" ? value > limit : compare === "<" ? value < limit : value === limit

type Of<Kind extends Sight["kind"]> = Extract<Sight, { readonly kind: Kind }>

const riseIn = ({ series, less, by, within, above }: Of<"rise">, window: Window) => {
  const taken = less === undefined ? [] : grouped(rising(window, less), by, ({ rise }) => rise)
  // What is too much in a longer range is too much in this one by its part of the range; one alone is not, where some may be.
  const limit = above === 0 ? 0 : Math.max(1, above * Math.min(1, window.seconds / secondsOf(within)))
  return grouped(rising(window, series), by, ({ rise }) => rise)
    .map(({ labels, values }) => ({
      labels,
      value:
        sum(values) - sum(taken.filter((other) => sameLabels(other.labels, labels)).flatMap(({ values: own }) => own))
    }))
    .filter(({ value }) => value > limit)
}

// Of fewer, the slowest in half a minute is one that had bad luck.
const p99CountMin = 5

const p99In = ({ histogram, by, above }: Of<"p99">, window: Window) => {
  const buckets = grouped(rising(window, { metric: `${histogram}_bucket` }), [...by, "le"], ({ rise }) => rise)
  return grouped(buckets, by, ({ labels, values }) => [boundOf(labels["le"]), sum(values)] as const)
    .filter(({ values }) => Math.max(...values.map(([, count]) => count)) >= p99CountMin)
    .map(({ labels, values }) => ({ labels, value: quantileOf(values, 0.99) }))
    .filter(({ value }) => value > above)
}

const boundOf = (le: string | undefined) => (le === "+Inf" ? Number.POSITIVE_INFINITY : Number(le))

const fillIn = ({ series, of, by, above }: Of<"fill">, window: Window) => {
  const wholes = grouped(found(window, of), by, ({ value }) => value)
  return grouped(found(window, series), by, ({ value }) => value)
    .map(({ labels, values }) => {
      const whole = wholes.find((other) => sameLabels(other.labels, labels))
      return { labels, value: Math.max(...values) / Math.max(...(whole?.values ?? [])) }
    })
    .filter(({ value }) => Number.isFinite(value) && value > above)
}

const secondsPer: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** "15m" in seconds. */
export const secondsOf = (range: string) => Number.parseInt(range, 10) * (secondsPer[range.at(-1) ?? ""] ?? Number.NaN)

const found = (window: Window, { metric, where = {} }: Series): ReadonlyArray<SeriesSample> =>
  window
    .samples(metric)
    .filter(({ labels }) =>
      Object.entries(where).every(([label, wanted]) => {
        const value = labels[label] ?? ""
        if (typeof wanted === "string") return value === wanted
        return "not" in wanted ? value !== wanted.not : wanted.includes(value)
      })
    )
    .map((sample) => ({ ...sample, labels: { ...sample.labels, pod: placeOf(sample.url) } }))

/** A process by its host and port, where Kubernetes names the pod. */
export const placeOf = (url: string) => url.replace(/^https?:\/\//u, "")

const labelled = ({ labels }: { readonly labels: Labels }, by: ReadonlyArray<string>): Labels =>
  Object.fromEntries(by.flatMap((label) => (labels[label] === undefined ? [] : [[label, labels[label]]])))

const sameLabels = (left: Labels, right: Labels) => idOf(left) === idOf(right)

const idOf = (labels: Labels) =>
  JSON.stringify(Object.entries(labels).toSorted(([left], [right]) => (left < right ? -1 : 1)))

/** The values of samples with the same labels. */
const grouped = <A extends { readonly labels: Labels }, V>(
  samples: ReadonlyArray<A>,
  by: ReadonlyArray<string>,
  valueOf: (sample: A) => V
): ReadonlyArray<{ readonly labels: Labels; readonly values: ReadonlyArray<V> }> =>
  [
    ...Map.groupBy(
      samples.map((sample) => ({ labels: labelled(sample, by), value: valueOf(sample) })),
      ({ labels }) => idOf(labels)
    ).values()
  ].map((all) => ({ labels: all[0]?.labels ?? {}, values: all.map(({ value }) => value) }))

/** The check of `/readyz` that a condition is about. */
export const checkOf = (sight: Sight): string | undefined => {
  if (sight.kind !== "level" || sight.series.metric !== "check_failing") return undefined
  const check = sight.series.where?.["check"]
  return typeof check === "string" ? check : undefined
}
