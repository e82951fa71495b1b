/**
 * A scheme whose chain is asked and whose transactions are sent by a facilitator. Local checks stay local, for
 * the claim is made of them, and so does the look at the chain: what became of a payment is believed of the
 * chain alone. A facilitator that says it is settled, and one that does not say what it did, are both looked after
 * there, for a while; what is not there by then is pending, under no name.
 */
import { Clock, Effect, Result } from "effect"
import { type ChainUnavailable, SettlementPending, type SettlementRefused } from "../errors.ts"
import type { CheckedPayment, PaymentScheme, Settlement } from "../scheme.ts"
import type { Facilitator } from "./Facilitator.ts"

export interface RemoteOptions {
  /** How long the chain is asked for what a facilitator has done. */
  readonly confirmMs: number
  /** It said that it was done, and the chain does not have it. */
  readonly onUnconfirmed: () => void
}

/** Who signs is not known before the facilitator answers. */
export const remoteScheme = (
  local: PaymentScheme,
  facilitator: Facilitator,
  options: RemoteOptions
): PaymentScheme => ({
  network: local.network,
  probe: (token) => local.probe(token),
  readKey: (secret) => local.readKey(secret),
  check: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  // Nobody of ours asks the chain before the facilitator sends.
  checkAgain: (payload, requirements, nowMs) => local.check(payload, requirements, nowMs),
  simulate: ({ payload, requirements }) => Effect.asVoid(facilitator.verify(payload, requirements)),
  // A facilitator tells no balances: our own nodes, which look after its settlements, do.
  funds: (checked, claimKeys) => local.funds(checked, claimKeys),
  // Whoever sends pays for it.
  recheck: () => Effect.void,
  accountNonce: () => Effect.succeed(null),
  prepare: () => Effect.succeed({ transaction: null, raw: new Uint8Array(0), settler: "facilitator", nonce: null }),
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
  // A refusal is looked after by whoever ends the payment for it.
  const said = yield* facilitator.settle(checked.payload, checked.requirements).pipe(
    Effect.map(({ transaction }) => ({ isDone: true, transaction, detail: `it names ${transaction}` })),
    Effect.catchTag("SettlementPending", (pending) =>
      Effect.succeed({ transaction: pending.transaction, detail: pending.detail, isDone: false })
    )
  )
  const transaction = yield* madeWithin(local, checked, said.transaction, confirmMs)
  const { network, payer, amount } = checked
  if (transaction !== null) return { transaction, network, payer, amount }
  if (said.isDone) onUnconfirmed()
  const detail = `the chain does not have it, and the facilitator: ${said.detail}`
  return yield* new SettlementPending({ transaction: null, detail })
})

const firstPauseMs = 100
const lastPauseMs = 1_000

/** The transaction that the chain has, whatever it was named; null when there is none in time. */
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
