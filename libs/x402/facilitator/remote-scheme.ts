/**
 * A scheme whose chain a facilitator asks, and whose transactions a facilitator sends. Local checks stay local, for the
 * claim is made from them, and so does the look at the chain: only the chain is believed about a payment's end. Whether
 * a facilitator says that it settled or does not say what it did, the chain is checked for a while; a transfer that is
 * not there by then is pending, without a name.
 */
import { Clock, Effect, Result } from "effect"
import { type ChainUnavailable, SettlementPending, type SettlementRefused } from "../errors.ts"
import type { CheckedPayment, PaymentScheme, Settlement } from "../scheme.ts"
import type { Facilitator } from "./Facilitator.ts"

interface RemoteOptions {
  /** How long the chain is asked for what a facilitator has done. */
  readonly confirmMs: number
  /** Called when the facilitator reported success and the chain does not have it. */
  readonly onUnconfirmed: () => void
}

/** The signer is unknown before the facilitator answers. */
export const remoteScheme = (
  local: PaymentScheme,
  facilitator: Facilitator,
  options: RemoteOptions
): PaymentScheme => ({
  network: local.network,
  probe: (token) => local.probe(token),
  check: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  // None of our own nodes is asked before the facilitator sends.
  checkAgain: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  simulate: ({ payload, requirements }) => facilitator.verify(payload, requirements),
  // A facilitator gives no balances: our own nodes, which confirm its settlements, do.
  funds: (checked, claimKeys) => local.funds(checked, claimKeys),
  // The sender pays for a failure.
  recheck: () => Effect.void,
  prepare: () => Effect.succeed({ transaction: null, raw: new Uint8Array(0) }),
  broadcast: (_prepared, checked) => settle(local, facilitator, options, checked),
  look: (checked, transaction) => local.look(checked, transaction),
  transfers: (from) => local.transfers(from)
})

const settle = Effect.fn("Facilitator.settle")(function* (
  local: PaymentScheme,
  facilitator: Facilitator,
  { confirmMs, onUnconfirmed }: RemoteOptions,
  checked: CheckedPayment
): Effect.fn.Return<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> {
  // The caller that ends the payment for a refusal confirms it on the chain.
  const reported = yield* facilitator.settle(checked.payload, checked.requirements).pipe(
    Effect.map(({ transaction }) => ({ isDone: true, transaction, detail: `it names ${transaction}` })),
    Effect.catchTag("SettlementPending", (pending) =>
      Effect.succeed({ transaction: pending.transaction, detail: pending.detail, isDone: false })
    )
  )
  const transaction = yield* madeWithin(local, checked, reported.transaction, confirmMs)
  if (transaction !== null) return { transaction }
  if (reported.isDone) onUnconfirmed()
  const detail = `the chain does not have it, and the facilitator: ${reported.detail}`
  return yield* new SettlementPending({ transaction: null, detail })
})

const firstPauseMs = 100
const lastPauseMs = 1_000

/** The transaction on the chain, whatever its name; null when there is none in time. */
const madeWithin = Effect.fnUntraced(function* (
  local: PaymentScheme,
  checked: CheckedPayment,
  named: string | null,
  waitMs: number
) {
  const untilMs = (yield* Clock.currentTimeMillis) + waitMs
  let pauseMs = firstPauseMs
  while (true) {
    const standing = yield* Effect.result(local.look(checked, named))
    if (Result.isSuccess(standing) && standing.success._tag === "Settled") return standing.success.transaction
    const leftMs = untilMs - (yield* Clock.currentTimeMillis)
    if (leftMs <= 0) return null
    yield* Effect.sleep(Math.min(pauseMs, leftMs))
    pauseMs = Math.min(pauseMs * 2, lastPauseMs)
  }
})
