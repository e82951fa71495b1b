/** A sample that a seed repeats. Pure. */

/** Numbers from 0 to below 1, the same for the same seed: mulberry32. */
const numbersOf = (seed: number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** All of them in the seed's order, so that a larger sample begins with a smaller one. */
export const shuffled = <A>(all: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  const next = numbersOf(seed)
  const left = [...all]
  for (let at = left.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1))
    const [one, two] = [left[at] as A, left[other] as A]
    left[at] = two
    left[other] = one
  }
  return left
}
