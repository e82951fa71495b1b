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

interface Found {
  readonly url: string
  readonly sample: Sample
}

const none: ReadonlyArray<Found> = []

/**
 * Finds the samples of a reading by their labels. Each label that is asked for has an index, so that a row for each of
 * ten thousand endpoints does not look at all samples of all endpoints.
 */
const finder = ({ targets }: Reading) => {
  const samples = new Map<string, ReadonlyArray<Found>>()
  const indexes = new Map<string, ReadonlyMap<string, ReadonlyArray<Found>>>()
  const named = (name: string): ReadonlyArray<Found> => {
    const known = samples.get(name)
    if (known !== undefined) return known
    const made = [...targets].flatMap(([url, exposition]) =>
      (exposition?.get(name) ?? []).map((sample) => ({ url, sample }))
    )
    samples.set(name, made)
    return made
  }
  const indexOf = (name: string, label: string) => {
    const id = `${name} ${label}`
    const known = indexes.get(id)
    if (known !== undefined) return known
    const made = new Map<string, Array<Found>>()
    for (const found of named(name)) {
      const value = found.sample.labels[label]
      if (value === undefined) continue
      const alike = made.get(value)
      if (alike === undefined) made.set(value, [found])
      else alike.push(found)
    }
    indexes.set(id, made)
    return made
  }
  return (name: string, labels: Labels): ReadonlyArray<Found> => {
    const [first] = Object.entries(labels)
    if (first === undefined) return named(name)
    const [label, value] = first
    return (indexOf(name, label).get(value) ?? none).filter(({ sample }) => matches(sample, labels))
  }
}

export const windowOf = (before: Reading | undefined, after: Reading): Window => {
  const earlier = new Map<string, ReadonlyMap<string, number>>()
  const valuesBefore = (url: string, name: string): ReadonlyMap<string, number> => {
    const known = earlier.get(`${url} ${name}`)
    if (known !== undefined) return known
    const samples = before?.targets.get(url)?.get(name) ?? []
    const made = new Map(samples.map(({ written, value }) => [written, value]))
    earlier.set(`${url} ${name}`, made)
    return made
  }
  const found = finder(after)
  const increaseOf = (url: string, name: string, { written, value }: Sample) => {
    // A process that is new in this reading may have counted its values at any time.
    if (before?.targets.get(url) === undefined) return 0
    const was = valuesBefore(url, name).get(written) ?? 0
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
    most: (name, labels = {}) => found(name, labels).reduce((most, { sample }) => Math.max(most, sample.value), 0),
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
