/**
 * What the chain says about a payment. Only our signature completes the transaction, and its name is recorded before it
 * is sent: without a name nothing was sent, and only the blockhash's age is checked. A payment is over only when it is
 * over in final blocks and its latest time has passed.
 */
import { Clock, Effect } from "effect"
import type { ChainUnavailable } from "../../errors.ts"
import type { ChainStatus } from "../../scheme.ts"
import type { CheckedSvmPayment } from "./payment.ts"
import { isConfirmed } from "./send.ts"
import type { SignatureStatus, SolanaNode } from "./SolanaNode.ts"
import { isProcessed } from "./simulate.ts"
import { decodeTransaction } from "./transaction.ts"

export const lookAtPayment = Effect.fn("Svm.look")(function* (
  rpc: SolanaNode,
  checked: CheckedSvmPayment,
  transaction: string | null
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  // The blockhash is checked first: one that ends between the two questions would hide a transaction just made.
  const ended = yield* whetherEnded(rpc, checked)
  const status = transaction === null ? null : yield* rpc.status(transaction, { history: true })
  if (transaction !== null && status !== null) return statusOf(status, transaction)
  if (ended === "no") return { _tag: "Unused" }
  if (ended === "yes") return { _tag: "Expired" }
  return { _tag: "Undecided", detail: "the blockhash is no longer taken, but that is not final yet" }
})

const statusOf = (status: SignatureStatus, transaction: string): ChainStatus => {
  if (!isConfirmed(status)) return { _tag: "Undecided", detail: "in a block that is not confirmed yet" }
  // It failed in a block; the chain does not accept the same message again.
  return status.err === null ? { _tag: "Settled", transaction } : { _tag: "Spent", transaction }
}

/**
 * A node that lags behind does not know a fresh blockhash either, so the clock counts too: `validBeforeMs` is counted
 * from the payment's first check.
 */
const whetherEnded = Effect.fnUntraced(function* (rpc: SolanaNode, checked: CheckedSvmPayment) {
  const { blockhash } = checked.transaction
  if (yield* rpc.isBlockhashValid(blockhash, "processed")) return "no"
  const nowMs = yield* Clock.currentTimeMillis
  if (nowMs < checked.validBeforeMs) return "perhaps"
  return (yield* rpc.isBlockhashValid(blockhash, "finalized")) ? "perhaps" : "yes"
})

const signaturePattern = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/u
// A payer with more transactions than this within a minute and a half hides only its own payments.
const searchedMax = 100

/**
 * The standing of a payment that a facilitator completes and sends. The facilitator determines the transaction's name,
 * so a name is trusted only if that transaction is this exact payment, by its message. Without a true name the payment
 * is searched for among the payer's newest transactions. It is over only when it is over in final blocks.
 */
export const lookForPayment = Effect.fn("Svm.lookFor")(function* (
  rpc: SolanaNode,
  checked: CheckedSvmPayment,
  named: string | null
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  // The blockhash is checked first: one that ends between the questions would hide a transaction just made.
  const ended = yield* whetherEnded(rpc, checked)
  const made = named === null ? undefined : yield* statusAs(rpc, checked, named)
  if (made !== undefined) return made
  if (ended === "no" && !(yield* isProcessed(rpc, checked))) return { _tag: "Unused" }
  const found = yield* search(rpc, checked)
  if (found !== undefined) return found
  if (ended === "yes") return { _tag: "Expired" }
  return { _tag: "Undecided", detail: "it is made or over, but that is not final yet" }
})

/** Undefined for a transaction that is missing or different. */
const statusAs = Effect.fnUntraced(function* (
  rpc: SolanaNode,
  { transaction: { message } }: CheckedSvmPayment,
  signature: string
): Effect.fn.Return<ChainStatus | undefined, ChainUnavailable> {
  if (!signaturePattern.test(signature)) return undefined
  const landed = yield* rpc.transaction(signature, "confirmed")
  if (landed === null) return undefined
  const decoded = decodeTransaction(Buffer.from(landed.transaction[0], "base64"))
  if (decoded === undefined || Buffer.compare(decoded.message, message) !== 0) return undefined
  return landed.meta.err === null
    ? { _tag: "Settled", transaction: signature }
    : { _tag: "Spent", transaction: signature }
})

const search = Effect.fnUntraced(function* (rpc: SolanaNode, checked: CheckedSvmPayment) {
  const newest = { before: null, until: null, limit: searchedMax }
  const listed = yield* rpc.signatures(checked.payer, newest, "confirmed")
  for (const { signature } of listed) {
    const found = yield* statusAs(rpc, checked, signature)
    if (found !== undefined) return found
  }
  return undefined
})
