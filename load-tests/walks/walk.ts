/** The files that one call walks through, by what V8 counted while the fleet was idle and while calls were made. Pure. */

/** How often each function ran: by file, then by its place in the file. */
export type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>

interface Counted {
  readonly url: string
  readonly functions: ReadonlyArray<{
    readonly functionName: string
    readonly ranges: ReadonlyArray<{ readonly startOffset: number; readonly count: number }>
  }>
}

// Fixed before the first measurement: the code that a call runs lies here.
const floors = ["libs/", "services/"]

/** What one process counted of the files below `root`, a URL that ends with a slash. */
export const counted = (scripts: ReadonlyArray<Counted>, root: string): Counts => {
  const files = new Map<string, Map<string, number>>()
  for (const { url, functions } of scripts) {
    const file = url.slice(root.length)
    if (!url.startsWith(root) || !floors.some((floor) => file.startsWith(floor))) continue
    const counts = files.get(file) ?? new Map<string, number>()
    files.set(file, counts)
    for (const { functionName, ranges } of functions) {
      const [whole] = ranges
      // Code at the top of a file runs when it is loaded, not when it is called.
      if (whole === undefined || whole.count === 0 || whole.startOffset === 0) continue
      const place = `${functionName} ${whole.startOffset}`
      counts.set(place, (counts.get(place) ?? 0) + whole.count)
    }
  }
  return files
}

export const sumOf = (all: ReadonlyArray<Counts>): Counts => {
  const sum = new Map<string, Map<string, number>>()
  for (const counts of all) {
    for (const [file, places] of counts) {
      const known = sum.get(file) ?? new Map<string, number>()
      sum.set(file, known)
      for (const [place, count] of places) known.set(place, (known.get(place) ?? 0) + count)
    }
  }
  return sum
}

/** A round of calls: how many, and how many times as long as the idle one it was. */
interface Round {
  readonly calls: number
  readonly longer: number
}

// What beats with the clock does not beat evenly beside other work.
const beatsSpread = 1.5
// Calls that come close together may share a step: a read, a write, an answer.
const sharesMin = 0.75

/** The files in which a function ran for most of the calls, beyond what it runs in as long a time without any. */
export const walked = (idle: Counts, busy: Counts, { calls, longer }: Round): ReadonlyArray<string> => {
  const isCalled =
    (file: string) =>
    ([place, count]: readonly [string, number]) =>
      count - (idle.get(file)?.get(place) ?? 0) * longer * beatsSpread >= calls * sharesMin
  return [...busy].flatMap(([file, places]) => ([...places].some(isCalled(file)) ? [file] : [])).toSorted()
}
