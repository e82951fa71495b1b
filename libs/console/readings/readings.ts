/**
 * Readings of a process's `/metrics`, in Prometheus' text format, skipping unreadable lines; and the changes between
 * two readings of the same processes: increases of counters, rates, and quantiles of histograms. A counter that
 * decreased belongs to a restarted process, which began at zero. Pure.
 */

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
  /** The increases of the histogram's buckets, by their upper bounds. */
  readonly buckets: (name: string, labels?: Labels) => ReadonlyMap<number, number>
  /** Each series of that name, with its value in both readings. */
  readonly samples: (name: string) => ReadonlyArray<SeriesSample>
  /** The values of a label, in order. */
  readonly values: (name: string, label: string, labels?: Labels) => ReadonlyArray<string>
}

export interface SeriesSample {
  readonly url: string
  readonly labels: Labels
  readonly value: number
  /** Undefined for a series that is new; for a new process its value, because it can have counted it at any time. */
  readonly before: number | undefined
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
 * Finds the samples of a reading by their labels. Each requested label has an index, so that a row for each of ten
 * thousand endpoints does not scan all samples of all endpoints.
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
    // A process that is new in this reading can have counted its values at any time.
    if (before?.targets.get(url) === undefined) return 0
    const was = valuesBefore(url, name).get(written) ?? 0
    return value >= was ? value - was : value
  }
  const now = (name: string, labels: Labels = {}) =>
    found(name, labels).reduce((sum, { sample }) => sum + sample.value, 0)
  const increase = (name: string, labels: Labels = {}) =>
    found(name, labels).reduce((sum, { url, sample }) => sum + increaseOf(url, name, sample), 0)
  const buckets = (name: string, labels: Labels = {}) => {
    const all = new Map<number, number>()
    for (const { url, sample } of found(`${name}_bucket`, labels)) {
      const upTo = sample.labels["le"] === "+Inf" ? Number.POSITIVE_INFINITY : Number(sample.labels["le"])
      all.set(upTo, (all.get(upTo) ?? 0) + increaseOf(url, `${name}_bucket`, sample))
    }
    return all
  }
  const seconds = before === undefined ? 0 : (after.atMs - before.atMs) / 1_000
  return {
    seconds,
    now,
    increase,
    most: (name, labels = {}) => found(name, labels).reduce((most, { sample }) => Math.max(most, sample.value), 0),
    rate: (name, labels = {}) => (seconds > 0 ? increase(name, labels) / seconds : Number.NaN),
    quantile: (name, share, labels = {}) => quantileOf([...buckets(name, labels)], share),
    buckets,
    samples: (name) =>
      found(name, {}).map(({ url, sample: { labels, value, written } }) => ({
        url,
        labels,
        value,
        before: before?.targets.get(url) === undefined ? value : valuesBefore(url, name).get(written)
      })),
    values: (name, label, labels = {}) =>
      [...new Set(found(name, labels).flatMap(({ sample }) => sample.labels[label] ?? []))].toSorted()
  }
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** The labels as written: a process always writes those of one series the same way. */
  readonly written: string
}

/** Keyed by the series' names: a histogram's `_bucket`, `_sum` and `_count` are names of their own. */
export interface Exposition extends ReadonlyMap<string, ReadonlyArray<Sample>> {
  /** The length of what was read. */
  readonly characters: number
}

const head = /^([a-zA-Z_:][\w:]*)/u
const label = /\s*([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"\s*,?/uy
const escapes: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" }

export const parseExposition = (text: string): Exposition => {
  const series = new Map<string, Array<Sample>>()
  for (const line of text.split("\n")) {
    const name = line.startsWith("#") ? undefined : head.exec(line)?.[1]
    const sample = name === undefined ? undefined : sampleOf(line, name.length)
    if (name === undefined || sample === undefined) continue
    const known = series.get(name)
    if (known === undefined) series.set(name, [sample])
    else known.push(sample)
  }
  return Object.assign(series, { characters: text.length })
}

const sampleOf = (line: string, from: number): Sample | undefined => {
  const labels: Record<string, string> = {}
  let at = from
  if (line[at] === "{") {
    at += 1
    for (;;) {
      label.lastIndex = at
      const [whole, key, text] = label.exec(line) ?? []
      if (whole === undefined || key === undefined || text === undefined) break
      labels[key] = text.replaceAll(/\\(.)/gu, (as, escaped: string) => escapes[escaped] ?? as)
      at += whole.length
    }
    if (line[at] !== "}") return undefined
    at += 1
  }
  const end = at
  // A timestamp can follow the value; it is not needed here.
  const [number = ""] = line.slice(at).trim().split(/\s+/u)
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : number === "-Inf" ? -Infinity : Number(number)
  const isNumber = number !== "" && (!Number.isNaN(value) || number === "NaN")
  return isNumber ? { labels, value, written: line.slice(from, end) } : undefined
}
