/** Chance that comes again with its seed: what one run asked for, another can ask for too. */
export interface Chance {
  /** From 0 up to, and without, 1. */
  readonly next: () => number
  readonly among: <A>(choices: ReadonlyArray<A>) => A
}

/** Mulberry32: 32 bits of state, enough to mix loads and nothing else. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const among = <A>(choices: ReadonlyArray<A>): A => {
    const chosen = choices[Math.floor(next() * choices.length)]
    if (chosen === undefined) throw new Error("there is nothing to choose from")
    return chosen
  }
  return { next, among }
}
