/**
 * The changes between two readings of the same processes: increases of counters, rates, and quantiles of histograms. A
 * counter that went back belongs to a restarted process, which began at zero. Pure.
 */
import type { Exposition, Sample } from "./exposition.ts"

export interface Reading {
  readonly atMs: number
  /** Keyed by the address; undefined for one that did not answer. */
  readonly targets: ReadonlyMap<string, Exposition | undefined>
}

export type Labels = Readonly<Record<string, string>>

export interface Window {
  /** 0 with only one reading: no rates are known then. */
  readonly seconds: number
  /** The sum of the series with these labels, over all processes. */
  readonly now: (name: string, labels?: Labels) => number
  readonly most: (name: string, labels?: Labels) => number
  readonly increase: (name: string, labels?: Labels) => number
  /** NaN with only one reading. */
  readonly rate: (name: string, labels?: Labels) => number
  /** A quantile of the histogram of that name, in its unit; NaN when nothing was counted. */
  readonly quantile: (name: string, share: number, labels?: Labels) => number
  /** The values of a label, in order. */
  readonly values: (name: string, label: string, labels?: Labels) => ReadonlyArray<string>
}

/** Null for a number that JSON cannot express. */
export const finite = (value: number) => (Number.isFinite(value) ? value : null)

const keyOf = (labels: Labels) =>
  Object.keys(labels)
    .toSorted()
    .map((name) => `${name}=${JSON.stringify(labels[name])}`)
    .join(",")

const matches = (sample: Sample, labels: Labels) =>
  Object.entries(labels).every(([name, value]) => sample.labels[name] === value)

/**
 * The quantile from a histogram's buckets, interpolated linearly within its bucket; in the last one, its lower bound.
 */
export const quantileOf = (buckets: ReadonlyArray<readonly [upTo: number, count: number]>, share: number): number => {
  const rising = buckets.toSorted(([left], [right]) => left - right)
  const total = rising.at(-1)?.[1] ?? 0
  if (total <= 0) return Number.NaN
  const rank = share * total
  let [below, counted] = [0, 0]
  for (const [upTo, count] of rising) {
    if (count >= rank && count > counted) {
      return upTo === Number.POSITIVE_INFINITY ? below : below + ((upTo - below) * (rank - counted)) / (count - counted)
    }
    ;[below, counted] = [upTo, Math.max(counted, count)]
  }
  return below
}

export const windowOf = (before: Reading | undefined, after: Reading): Window => {
  const earlier = new Map<string, ReadonlyMap<string, number>>()
  const valuesBefore = (url: string, name: string): ReadonlyMap<string, number> => {
    const known = earlier.get(`${url} ${name}`)
    if (known !== undefined) return known
    const samples = before?.targets.get(url)?.get(name) ?? []
    const made = new Map(samples.map(({ labels, value }) => [keyOf(labels), value]))
    earlier.set(`${url} ${name}`, made)
    return made
  }
  const found = (name: string, labels: Labels) =>
    [...after.targets].flatMap(([url, exposition]) =>
      (exposition?.get(name) ?? []).filter((sample) => matches(sample, labels)).map((sample) => ({ url, sample }))
    )
  const increaseOf = (url: string, name: string, { labels, value }: Sample) => {
    // A process that is new in this reading may have counted its values at any time.
    if (before?.targets.get(url) === undefined) return 0
    const was = valuesBefore(url, name).get(keyOf(labels)) ?? 0
    return value >= was ? value - was : value
  }
  const now = (name: string, labels: Labels = {}) =>
    found(name, labels).reduce((sum, { sample }) => sum + sample.value, 0)
  const increase = (name: string, labels: Labels = {}) =>
    found(name, labels).reduce((sum, { url, sample }) => sum + increaseOf(url, name, sample), 0)
  const seconds = before === undefined ? 0 : (after.atMs - before.atMs) / 1_000
  return {
    seconds,
    now,
    increase,
    most: (name, labels = {}) => Math.max(0, ...found(name, labels).map(({ sample }) => sample.value)),
    rate: (name, labels = {}) => (seconds > 0 ? increase(name, labels) / seconds : Number.NaN),
    quantile: (name, share, labels = {}) => {
      const buckets = new Map<number, number>()
      for (const { url, sample } of found(`${name}_bucket`, labels)) {
        const upTo = sample.labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(sample.labels["le"])
        buckets.set(upTo, (buckets.get(upTo) ?? 0) + increaseOf(url, `${name}_bucket`, sample))
      }
      return quantileOf([...buckets], share)
    },
    values: (name, label, labels = {}) =>
      [...new Set(found(name, labels).flatMap(({ sample }) => sample.labels[label] ?? []))].toSorted()
  }
}
