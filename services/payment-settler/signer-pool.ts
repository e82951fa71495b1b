/**
 * The signer pool holds the settlers' keys of one network that this process can sign with. If the chain counts an
 * account's transactions, a key is leased: one process signs with it and hands out its nonces in order. Further keys
 * are taken a while later, so that processes that start together share them. On other chains a key needs no lease: the
 * same message signed twice is the same transaction. A holder that wakes late loses to the chain's own nonce.
 */
import { Effect, Latch, type Scope } from "effect"
import { Leases } from "#bus"
import { inOneCase } from "#payments/contract"
import { Metrics, supervise } from "#runtime"
import {
  ChainUnavailable,
  type CheckedPayment,
  type LeaseEnd,
  type OpenNetwork,
  type SettlerAccount,
  type SettlerKey,
  type SettlerLease
} from "#payments"
import { gapsFilled, keysHeld } from "./metrics.ts"

export interface SignerLease {
  readonly lease: SettlerLease
  readonly end: (how: LeaseEnd) => Effect.Effect<void>
}

/** Whether there is a key to sign with. */
export interface KeyLatches {
  /** Open while there is one. */
  readonly some: Latch.Latch
  readonly none: Latch.Latch
}

export interface SignerPool extends KeyLatches {
  /** The same for the key of one address; undefined if this process does not have it. */
  readonly keyOf: (address: string) => KeyLatches | undefined
  /** Every lease must be ended. `payment`: determines which key may sign, if payers name it; null: any. */
  readonly take: (
    payment: Pick<CheckedPayment, "requirements" | "facilitator"> | null
  ) => Effect.Effect<SignerLease, ChainUnavailable>
}

interface LeasedKey {
  readonly key: SettlerKey
  readonly account: SettlerAccount
  inUse: number
  mayHaveGaps: boolean
  /** The last healing failed, and this was logged. */
  isUnhealed: boolean
}

interface PoolOptions {
  readonly network: OpenNetwork
  readonly keys: ReadonlyArray<SettlerKey>
  /** This process's name in the leases. */
  readonly holder: string
  readonly heldMax: number
}

// By then a process that started at the same time has its first key.
const furtherKeyAfterMs = 3_000
const healEvery = "2 seconds"
/** A placeholder for a remote facilitator's key: nothing is signed with it. */
const facilitatorKey = (network: string): SettlerKey => ({
  network,
  address: "facilitator",
  sign: () => Effect.fail(noKey("a facilitator signs by itself"))
})

export const openSignerPool = Effect.fn("openSignerPool")(function* (
  options: PoolOptions
): Effect.fn.Return<SignerPool, never, Leases | Metrics | Scope.Scope> {
  const { account, entry, isRemote } = options.network
  if (account !== null) return yield* leasedPool(options, account)
  const keys = isRemote ? [facilitatorKey(entry.Network)] : options.keys
  return yield* sharedPool(entry.Network, keys, isRemote)
})

const noKey = (detail: string) => new ChainUnavailable({ operation: "sign", detail })

const sharedPool = Effect.fnUntraced(function* (network: string, keys: ReadonlyArray<SettlerKey>, isRemote: boolean) {
  ;(yield* Metrics).gauge(keysHeld).set({ network }, keys.length)
  const take: SignerPool["take"] = (payment) => {
    const wanted = payment?.requirements.extra?.["feePayer"]
    const key = isRemote ? keys[0] : keys.find(({ address }) => address === wanted)
    if (key === undefined) return Effect.fail(noKey(`there is no key of ${String(wanted)}`))
    return Effect.succeed({ lease: { key, nonce: null }, end: () => Effect.void })
  }
  const all = latchesOf(keys.length > 0)
  // A facilitator signs for all of its own addresses.
  const keyOf = (address: string) => (isRemote || keys.some((key) => key.address === address) ? all : undefined)
  const pool: SignerPool = { ...all, keyOf, take }
  return pool
})

const latchesOf = (isThere: boolean): KeyLatches => ({
  some: Latch.makeUnsafe(isThere),
  none: Latch.makeUnsafe(!isThere)
})

const turn = ({ some, none }: KeyLatches, isThere: boolean) =>
  isThere ? Effect.andThen(none.close, some.open) : Effect.andThen(some.close, none.open)

const leasedPool = Effect.fnUntraced(function* (
  { network, keys, holder, heldMax }: PoolOptions,
  accountOf: NonNullable<OpenNetwork["account"]>
): Effect.fn.Return<SignerPool, never, Leases | Metrics | Scope.Scope> {
  const name = network.entry.Network
  const leases = yield* Leases
  const metrics = yield* Metrics
  const gauge = metrics.gauge(keysHeld)
  const filled = metrics.counter(gapsFilled)
  filled.begin({ network: name })
  const leased = new Map<string, LeasedKey>()
  const all = latchesOf(false)
  const latches = new Map(keys.map(({ address }) => [address, latchesOf(false)]))
  // A retiring key settles only payments that name it.
  const open = () => [...leased.values()].filter(({ key }) => !retiring.has(key.address))
  const changed = Effect.suspend(() => {
    gauge.set({ network: name }, leased.size)
    const each = Effect.forEach(latches, ([address, one]) => turn(one, leased.has(address)), { discard: true })
    return Effect.andThen(each, turn(all, open().length > 0))
  })

  const heal = Effect.forEach(
    [...keys.keys()],
    (index) => healOne(leased.get(keys[index]?.address ?? ""), filled, name),
    {
      discard: true
    }
  )
  const lease = (key: SettlerKey) =>
    Effect.acquireUseRelease(
      // A fresh account: the chain reports which nonces the last holder used.
      Effect.andThen(
        Effect.sync(() =>
          leased.set(key.address, { key, account: accountOf(key), inUse: 0, mayHaveGaps: true, isUnhealed: false })
        ),
        changed
      ),
      () => Effect.never,
      () =>
        Effect.andThen(
          Effect.sync(() => leased.delete(key.address)),
          changed
        )
    )
  const leaseName = (key: SettlerKey) => `settler-key-${key.network.replace(/[^A-Za-z0-9_-]/gu, "-")}-${key.address}`
  const holdLeased = (key: SettlerKey) => leases.whileHeld({ key: leaseName(key), holder }, lease(key))
  const compete = (key: SettlerKey, place: number) =>
    Effect.andThen(Effect.sleep(place * furtherKeyAfterMs), supervise("settler key", holdLeased(key)))

  // A payment that names an account waits for that key: each of these must be held, however few processes run.
  const retiring = new Set(network.entry.RetiringAddresses.map((address) => inOneCase(name, address)))
  const named = [...network.entry.FacilitatorAddresses.map((address) => inOneCase(name, address)), ...retiring]
  const wanted = inTurn(keys, holder).filter(({ address }, place) => place < heldMax || named.includes(address))
  yield* Effect.forEach(wanted, (key, place) => Effect.forkScoped(compete(key, place)))
  yield* Effect.forkScoped(supervise("nonce gaps", Effect.forever(Effect.delay(heal, healEvery))))
  return {
    ...all,
    keyOf: (address) => latches.get(address),
    take: (payment) => takeFrom(payment?.facilitator, leased, open())
  }
})

/** If there are several keys, processes begin with different ones. */
const inTurn = (keys: ReadonlyArray<SettlerKey>, holder: string) => {
  const first =
    keys.length === 0 ? 0 : [...holder].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % keys.length
  return [...keys.slice(first), ...keys.slice(0, first)]
}

/** Takes the key that the payer has signed for; otherwise, of those that can sign now, the one with the least work. */
const takeFrom = Effect.fnUntraced(function* (
  facilitator: string | undefined,
  leased: ReadonlyMap<string, LeasedKey>,
  open: ReadonlyArray<LeasedKey>
): Effect.fn.Return<SignerLease, ChainUnavailable> {
  const one = facilitator === undefined ? leastBusy(open) : leased.get(facilitator)
  if (one === undefined) {
    return yield* noKey(
      facilitator === undefined
        ? "no settler's key is leased to this process"
        : `only ${facilitator} can settle it, whose key is not leased to this process`
    )
  }
  one.inUse += 1
  const lease = yield* Effect.onError(one.account.take, () => Effect.sync(() => void (one.inUse -= 1)))
  const end = (how: LeaseEnd) =>
    Effect.andThen(
      Effect.sync(() => {
        one.inUse -= 1
        if (how !== "used") one.mayHaveGaps = true
      }),
      one.account.end(lease, how)
    )
  return { lease, end }
})

const leastBusy = (open: ReadonlyArray<LeasedKey>): LeasedKey | undefined => {
  const atHand = open.filter(({ key }) => key.isUnavailable?.() !== true)
  return (atHand.length > 0 ? atHand : open).toSorted((left, right) => left.inUse - right.inUse)[0]
}

const healOne = Effect.fnUntraced(function* (
  one: LeasedKey | undefined,
  filled: { readonly inc: (labels: { readonly network: string }, by?: number) => void },
  network: string
) {
  // The node may have dropped a transaction that all later ones wait for.
  if (one === undefined || !(one.mayHaveGaps || (yield* one.account.mayBeStuck))) return
  // Cleared before the check: a lease that ends in the meantime can leave another gap.
  one.mayHaveGaps = false
  const count = yield* Effect.result(one.account.heal)
  if (count._tag === "Failure" || count.success > 0) one.mayHaveGaps = true
  if (count._tag === "Success" && count.success > 0) filled.inc({ network }, count.success)
  if (count._tag === "Failure" && !one.isUnhealed) {
    yield* Effect.logWarning("gaps between nonces could not be filled", count.failure).pipe(
      Effect.annotateLogs({ network })
    )
  }
  one.isUnhealed = count._tag === "Failure"
})
