/** Reads a process's `/metrics`, in Prometheus' text format. An unreadable line is skipped. Pure. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** The labels as they are written: a process writes those of one series always the same. */
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
  // A timestamp may follow the value; it is not needed here.
  const [number = ""] = line.slice(at).trim().split(/\s+/u)
  const value = number === "+Inf" ? Number.POSITIVE_INFINITY : number === "-Inf" ? -Infinity : Number(number)
  const isNumber = number !== "" && (!Number.isNaN(value) || number === "NaN")
  return isNumber ? { labels, value, written: line.slice(from, end) } : undefined
}
