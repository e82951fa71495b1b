/**
 * One settler's account while its key is leased to us. It hands out leases whose nonces never collide and leave no gap,
 * however many settlements run at once. The chain is asked for the account's nonce at the start, and again when a
 * transaction's fate is unknown. Only one process may hold an account at a time.
 */
import { Clock, Effect, Semaphore } from "effect"
import { ChainUnavailable } from "../../errors.ts"
import type { SettlerKey, SettlerLease } from "../../scheme.ts"
import type { EvmNode } from "./EvmNode.ts"
import { type FeeSource, signTransaction } from "./transaction.ts"
import { sendVerdict } from "./send.ts"

/** `used`: the chain has it. `unsent`: it certainly does not. `unknown`: it may. */
export type LeaseEnd = "used" | "unsent" | "unknown"

interface AccountParts {
  readonly node: EvmNode
  readonly fees: FeeSource
  readonly chainId: bigint
}

// The gas of an empty transfer to oneself, on every chain of this family; some also charge for data.
const fillerGas = 60_000n
// Gaps filled in one healing; more than this have another cause.
const gapsMax = 64
// Well within the time that a caller waits. A transaction signed this long ago that the node does not have is signed
// again.
const stuckAfterMs = 4_000

export class SettlerAccount {
  readonly #parts: AccountParts
  readonly #key: SettlerKey
  readonly #turn = Semaphore.makeUnsafe(1)
  #sequence: NonceSequence | undefined

  constructor(parts: AccountParts, key: SettlerKey) {
    this.#parts = parts
    this.#key = key
  }

  /** The account's next nonce. Every lease must be ended. */
  readonly take: Effect.Effect<SettlerLease, ChainUnavailable> = Effect.suspend(() =>
    this.#turn.withPermits(1)(
      Effect.zipWith(this.#known(), Clock.currentTimeMillis, (sequence, nowMs) => {
        const [nonce, rest] = takeNonce(sequence, nowMs)
        this.#sequence = rest
        return { key: this.#key, nonce }
      })
    )
  )

  readonly end = ({ nonce }: SettlerLease, how: LeaseEnd): Effect.Effect<void> =>
    Effect.sync(() => {
      if (this.#sequence === undefined || nonce === null) return
      const rest = how === "unsent" ? returnNonce(this.#sequence, nonce) : useNonce(this.#sequence, nonce)
      // With no transaction on its way, the chain's own count is correct again.
      this.#sequence = how === "unknown" && rest.out.size === 0 ? undefined : rest
    })

  /** Whether a lease has lasted so long that its transaction may be lost; makes no remote call. */
  readonly mayBeStuck: Effect.Effect<boolean> = Effect.map(Clock.currentTimeMillis, (nowMs) =>
    [...(this.#sequence?.out.values() ?? [])].some((sinceMs) => sinceMs < nowMs - stuckAfterMs)
  )

  /**
   * Fills the gaps that later transactions wait for with empty transactions, and returns their number. New leases wait
   * for it.
   */
  readonly heal: Effect.Effect<number, ChainUnavailable> = Effect.suspend(() =>
    this.#turn.withPermits(1)(this.#fillGaps())
  )

  readonly #known = Effect.fnUntraced(function* (
    this: SettlerAccount
  ): Effect.fn.Return<NonceSequence, ChainUnavailable> {
    if (this.#sequence !== undefined) return this.#sequence
    return sequenceFrom(yield* this.#parts.node.transactionCount(this.#key.address, "pending"))
  })

  readonly #fillGaps = Effect.fnUntraced(function* (this: SettlerAccount): Effect.fn.Return<number, ChainUnavailable> {
    const { node, fees, chainId } = this.#parts
    // The sequence from before the node is asked: a lease that ends later is not a gap, and changes the sequence in the
    // meantime.
    const before = yield* this.#known()
    this.#sequence = before
    const stuckSinceMs = (yield* Clock.currentTimeMillis) - stuckAfterMs
    const pending = yield* node.transactionCount(this.#key.address, "pending")
    if (this.#sequence !== undefined) this.#sequence = forgetBelow(this.#sequence, pending)
    const gaps = gapsOf(before, pending, stuckSinceMs).slice(0, gapsMax)
    for (const nonce of gaps) {
      const offer = yield* fees.current()
      const fields = { ...offer, chainId, nonce: BigInt(nonce), gas: fillerGas, to: this.#key.address }
      const { raw } = yield* signTransaction({ ...fields, data: new Uint8Array(0) }, this.#key)
      yield* sendFiller(node, raw)
      if (this.#sequence !== undefined) this.#sequence = fillNonce(this.#sequence, nonce)
    }
    return gaps.length
  })
}

/** A nonce that is taken in the meantime is no longer a gap. */
const sendFiller = (node: EvmNode, raw: `0x${string}`): Effect.Effect<void, ChainUnavailable> =>
  node.send(raw).pipe(
    Effect.catchIf(
      (error) => error._tag === "RpcRejected" && sendVerdict(error.detail) !== "not taken",
      () => Effect.void
    ),
    Effect.mapError((error) => new ChainUnavailable({ operation: "fill a gap of nonces", detail: error.message }))
  )

/**
 * The nonces of one settler's account. Each transaction takes the next; a nonce that was never sent is reused before
 * any later one; a nonce that the chain lacks between those it has is a gap to fill. Pure.
 */
export interface NonceSequence {
  /** The first nonce that was never handed out. */
  readonly next: number
  /** Nonces returned unsent, ascending. */
  readonly returned: ReadonlyArray<number>
  /** Nonces handed out, with the time, whose transactions have not been reported yet. */
  readonly out: ReadonlyMap<number, number>
}

export const sequenceFrom = (next: number): NonceSequence => ({ next, returned: [], out: new Map() })

export const takeNonce = ({ next, returned, out }: NonceSequence, nowMs: number): readonly [number, NonceSequence] => {
  const [first, ...rest] = returned
  if (first !== undefined) return [first, { next, returned: rest, out: new Map([...out, [first, nowMs]]) }]
  return [next, { next: next + 1, returned, out: new Map([...out, [next, nowMs]]) }]
}

/** The transaction was sent, or may have been: the nonce is not handed out again. */
export const useNonce = (sequence: NonceSequence, nonce: number): NonceSequence => ({
  ...sequence,
  out: without(sequence.out, nonce)
})

/** Nothing was sent with the nonce. */
export const returnNonce = (sequence: NonceSequence, nonce: number): NonceSequence => {
  if (!sequence.out.has(nonce)) return sequence
  const returned = [...sequence.returned, nonce].toSorted((left, right) => left - right)
  return dropTail({ ...sequence, returned, out: without(sequence.out, nonce) })
}

/**
 * The gaps that later transactions wait for, where `pending` is the chain's own next nonce: nonces that no lease holds,
 * and `pending` itself if it was handed out before `stuckSinceMs`, because then the node has dropped its transaction or
 * skips it.
 */
export const gapsOf = ({ next, out }: NonceSequence, pending: number, stuckSinceMs: number): ReadonlyArray<number> => {
  const gaps: Array<number> = []
  for (let nonce = pending; nonce < next; nonce += 1) {
    const outSinceMs = out.get(nonce)
    if (outSinceMs === undefined || (nonce === pending && outSinceMs < stuckSinceMs)) gaps.push(nonce)
  }
  return gaps
}

/** Drops nonces below the chain's own next: another sender used them. */
export const forgetBelow = (sequence: NonceSequence, pending: number): NonceSequence => ({
  next: Math.max(sequence.next, pending),
  returned: sequence.returned.filter((nonce) => nonce >= pending),
  out: sequence.out
})

/** A gap was filled with an empty transaction. */
const fillNonce = (sequence: NonceSequence, filled: number): NonceSequence => ({
  next: Math.max(sequence.next, filled + 1),
  returned: sequence.returned.filter((nonce) => nonce !== filled),
  out: sequence.out
})

const without = (out: ReadonlyMap<number, number>, nonce: number): ReadonlyMap<number, number> => {
  const rest = new Map(out)
  rest.delete(nonce)
  return rest
}

/** Nonces returned at the end of the sequence leave no gap. */
const dropTail = (sequence: NonceSequence): NonceSequence => {
  let { next, returned } = sequence
  while (returned.at(-1) === next - 1) {
    next -= 1
    returned = returned.slice(0, -1)
  }
  return { ...sequence, next, returned }
}
