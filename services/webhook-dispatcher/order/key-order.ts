/**
 * The outstanding deliveries of an ordered endpoint, by key and event: those that are neither delivered nor given up.
 * The first attempt of one may go once no earlier one of its key is outstanding. Pure, but for its own state.
 */
export interface KeyOrder {
  readonly add: (key: string, sequence: number) => void
  readonly end: (key: string, sequence: number) => void
  readonly has: (key: string, sequence: number) => boolean
  /** How many of the key are outstanding before it. */
  readonly before: (key: string, sequence: number) => number
  readonly first: (key: string) => number | undefined
  /** How many wait for an earlier one of their key. */
  readonly waiting: () => number
  readonly all: () => Iterable<readonly [key: string, sequence: number]>
}

export const keyOrder = (): KeyOrder => {
  /** Sequences, ascending. */
  const keys = new Map<string, Array<number>>()
  let outstanding = 0

  const add = (key: string, sequence: number) => {
    const of = keys.get(key)
    if (of === undefined) keys.set(key, [sequence])
    else {
      const at = placeIn(of, sequence)
      if (of[at] === sequence) return
      of.splice(at, 0, sequence)
    }
    outstanding += 1
  }
  const end = (key: string, sequence: number) => {
    const of = keys.get(key) ?? []
    const at = placeIn(of, sequence)
    if (of[at] !== sequence) return
    of.splice(at, 1)
    outstanding -= 1
    if (of.length === 0) keys.delete(key)
  }
  const before = (key: string, sequence: number) => placeIn(keys.get(key) ?? [], sequence)
  return {
    add,
    end,
    has: (key, sequence) => keys.get(key)?.[before(key, sequence)] === sequence,
    before,
    first: (key) => keys.get(key)?.[0],
    waiting: () => outstanding - keys.size,
    all: function* () {
      for (const [key, of] of keys) for (const sequence of of) yield [key, sequence]
    }
  }
}

/** The first place whose value is not smaller. New ones come last. */
const placeIn = (of: ReadonlyArray<number>, sequence: number): number => {
  let [low, high] = [0, of.length]
  if ((of.at(-1) ?? -1) < sequence) return high
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((of[middle] ?? 0) < sequence) low = middle + 1
    else high = middle
  }
  return low
}
