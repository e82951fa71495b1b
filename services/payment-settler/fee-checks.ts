/**
 * The checks of what settlers' keys pay fees with: a key without the chain's own coin settles nothing, and what was
 * served meanwhile may end unpaid. All settlers share the keys, so none is unready for it.
 */
import { Effect, Layer } from "effect"
import { check, type GaugeHandle, Metrics } from "#runtime"
import { transactionsLeft } from "./metrics.ts"
import { Networks, type SettlingNetwork } from "./networks.ts"

/** Minutes of a busy shop: by then the account should have been filled. */
const leftMin = 100
const leftShownMax = 10_000
// Nodes may be paid by the question. Balances fall slowly; the price of a transaction can rise within a block.
const pauseMs = 20_000

export const feeChecks = Layer.effectDiscard(
  Effect.gen(function* () {
    const gauge = (yield* Metrics).gauge(transactionsLeft)
    const own = [...(yield* Networks).values()].filter(({ isRemote }) => !isRemote)
    yield* Effect.forEach(own, (network) => checkFees(network, gauge), { discard: true })
  })
)

const checkFees = (
  { chain, addresses, entry: { Network: network } }: SettlingNetwork,
  gauge: GaugeHandle<"network" | "key">
) => {
  const run = Effect.gen(function* () {
    const keys = yield* Effect.forEach(addresses, (key) =>
      Effect.map(chain.transfersLeft(key), (left) => ({ key, left: Number(left) }))
    ).pipe(Effect.mapError(() => undefined))
    for (const { key, left } of keys) gauge.set({ network, key }, Math.min(left, leftShownMax))
    const low = lowKeys(keys)
    if (low !== undefined) return yield* Effect.fail(low)
  })
  return check({ name: "fees", subject: network, run, pauseMs: () => pauseMs })
}

interface KeyFees {
  readonly key: string
  readonly left: number
}

/** The reason does not change with each transfer. */
export const lowKeys = (keys: ReadonlyArray<KeyFees>): string | undefined => {
  const low = keys.filter(({ left }) => left < leftMin).map(({ key, left }) => `${key}${left === 0 ? " (none)" : ""}`)
  return low.length === 0 ? undefined : `fees for fewer than ${leftMin} transfers are left to ${low.join(", ")}`
}
