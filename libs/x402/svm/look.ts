/**
 * What became of a payment. Only our signature makes the transaction whole, and its name is written down before it
 * is sent: without a name nothing was sent, and only the blockhash's age is asked for. An end is told only when it
 * is one in final blocks and the latest time of the payment is over.
 */
import { Clock, Effect } from "effect"
import type { ChainUnavailable } from "../errors.ts"
import type { ChainStanding } from "../scheme.ts"
import type { CheckedSvmPayment } from "./check.ts"
import { isConfirmed } from "./settle.ts"
import type { SignatureStatus, SolanaRpc } from "./SolanaRpc.ts"

export const lookAtPayment = Effect.fn("Svm.look")(function* (
  rpc: SolanaRpc,
  checked: CheckedSvmPayment,
  transaction: string | null
): Effect.fn.Return<ChainStanding, ChainUnavailable> {
  // The blockhash first: one that ends between the two questions would hide a transaction just made.
  const ended = yield* whetherEnded(rpc, checked)
  const status = transaction === null ? null : yield* rpc.status(transaction, { history: true })
  if (transaction !== null && status !== null) return standingOf(status, transaction)
  if (ended === "no") return { _tag: "Unused" }
  if (ended === "yes") return { _tag: "Expired" }
  return { _tag: "Undecided", detail: "the blockhash is no longer taken, but that is not final yet" }
})

const standingOf = (status: SignatureStatus, transaction: string): ChainStanding => {
  if (!isConfirmed(status)) return { _tag: "Undecided", detail: "in a block that is not confirmed yet" }
  // It was in a block and failed there; the chain takes the same message no second time.
  return status.err === null ? { _tag: "Settled", transaction } : { _tag: "Spent", transaction }
}

/**
 * A node that lags behind knows a fresh blockhash as little as an old one. Hence also the clock: `validBeforeMs` is
 * counted from when the payment was first checked.
 */
export const whetherEnded = Effect.fnUntraced(function* (rpc: SolanaRpc, checked: CheckedSvmPayment) {
  const { blockhash } = checked.transaction
  if (yield* rpc.isBlockhashValid(blockhash, "processed")) return "no"
  const nowMs = yield* Clock.currentTimeMillis
  if (nowMs < checked.validBeforeMs) return "perhaps"
  return (yield* rpc.isBlockhashValid(blockhash, "finalized")) ? "perhaps" : "yes"
})
