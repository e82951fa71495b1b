/**
 * The nonces of one settler's account: each transaction takes the next, a nonce that was never sent is taken again
 * before any later one, and what the chain lacks between those that it has is a gap to be filled. Pure.
 */

export interface NonceSequence {
  /** The first that was never given out. */
  readonly next: number
  /** Given back unsent, ascending. */
  readonly returned: ReadonlyArray<number>
  /** Given out, with the moment, and what became of the transaction is not said yet. */
  readonly out: ReadonlyMap<number, number>
}

export const sequenceFrom = (next: number): NonceSequence => ({ next, returned: [], out: new Map() })

export const takeNonce = ({ next, returned, out }: NonceSequence, nowMs: number): readonly [number, NonceSequence] => {
  const [first, ...rest] = returned
  if (first !== undefined) return [first, { next, returned: rest, out: new Map([...out, [first, nowMs]]) }]
  return [next, { next: next + 1, returned, out: new Map([...out, [next, nowMs]]) }]
}

/** The transaction was sent, or may have been: the nonce is not given out again. */
export const useNonce = (sequence: NonceSequence, nonce: number): NonceSequence => ({
  ...sequence,
  out: without(sequence.out, nonce)
})

/** Nothing was sent with it. */
export const returnNonce = (sequence: NonceSequence, nonce: number): NonceSequence => {
  if (!sequence.out.has(nonce)) return sequence
  const returned = [...sequence.returned, nonce].toSorted((left, right) => left - right)
  return dropTail({ ...sequence, returned, out: without(sequence.out, nonce) })
}

/**
 * Nonces that later transactions wait for, where the chain's own next one is `pending`: those that nobody holds, and the
 * next one itself when it was given out before `stuckSinceMs`, for then the node has dropped its transaction or passes
 * it over.
 */
export const gapsOf = ({ next, out }: NonceSequence, pending: number, stuckSinceMs: number): ReadonlyArray<number> => {
  const gaps: Array<number> = []
  for (let nonce = pending; nonce < next; nonce += 1) {
    const outSinceMs = out.get(nonce)
    if (outSinceMs === undefined || (nonce === pending && outSinceMs < stuckSinceMs)) gaps.push(nonce)
  }
  return gaps
}

/** Those below the chain's own next were used by somebody else and are worth nothing. */
export const forgetBelow = (sequence: NonceSequence, pending: number): NonceSequence => ({
  next: Math.max(sequence.next, pending),
  returned: sequence.returned.filter((nonce) => nonce >= pending),
  out: sequence.out
})

/** A gap was filled with an empty transaction. */
export const fillNonce = (sequence: NonceSequence, filled: number): NonceSequence => ({
  next: Math.max(sequence.next, filled + 1),
  returned: sequence.returned.filter((nonce) => nonce !== filled),
  out: sequence.out
})

const without = (out: ReadonlyMap<number, number>, nonce: number): ReadonlyMap<number, number> => {
  const rest = new Map(out)
  rest.delete(nonce)
  return rest
}

/** The last ones that were given back were never missing. */
const dropTail = (sequence: NonceSequence): NonceSequence => {
  let { next, returned } = sequence
  while (returned.at(-1) === next - 1) {
    next -= 1
    returned = returned.slice(0, -1)
  }
  return { ...sequence, next, returned }
}
