/**
 * Sends a signed settlement and waits for the token's own word that the transfer was made: a receipt of success and
 * the Transfer event. A transaction that fails because somebody submitted the same authorization first is paid all
 * the same. What may be on its way is pending, never refused; only what certainly is not is `ChainUnavailable`.
 */
import { Clock, Effect } from "effect"
import { ChainUnavailable, SettlementPending, type SettlementRefused } from "../errors.ts"
import type { RpcError } from "../rpc/json-rpc.ts"
import { RpcRejected } from "../rpc/errors.ts"
import type { Settlement } from "../scheme.ts"
import type { EvmNode, TransactionReceipt } from "./EvmNode.ts"
import type { EvmPayment, EvmPrepared } from "./EvmPayment.ts"
import { hexOf, readQuantity } from "./hex.ts"
import { look, type LookOptions } from "./look.ts"
import { settlementRefused } from "./reasons.ts"
import { isMethodMissing, sendVerdict } from "./sent.ts"
import { diagnose } from "./simulate.ts"
import { hasTransfer } from "./transfer-logs.ts"

export interface BroadcastOptions extends LookOptions {
  readonly receiptDeadlineMs: number
  readonly waiters: Waiters
}

/** Sends that wait at the node for their block, each with a connection of its own. */
export interface Waiters {
  /** Whether the node has the method that sends and waits in one; remembered once it says no. */
  isKnown: boolean
  now: number
  /**
   * Fewer than there are connections: what waits may wait for a transaction before it, of the same account, which must
   * still find one. Who is beyond asks for its receipt again and again.
   */
  readonly atOnceMax: number
}

type Refusal = SettlementRefused | SettlementPending | ChainUnavailable

export const broadcast = Effect.fnUntraced(function* (
  node: EvmNode,
  options: BroadcastOptions,
  prepared: EvmPrepared,
  payment: EvmPayment
): Effect.fn.Return<Settlement, Refusal> {
  const startedAtMs = yield* Clock.currentTimeMillis
  const untilMs = startedAtMs + options.receiptDeadlineMs
  const sent = yield* send(node, options, prepared)
  const receipt = sent ?? (yield* awaitReceipt(node, prepared.transaction, untilMs))
  return yield* concluded(node, options, payment, receipt)
})

/** The receipt, where the node waited for it; undefined when it must be asked for. */
const send = Effect.fnUntraced(function* (
  node: EvmNode,
  { waiters, receiptDeadlineMs }: BroadcastOptions,
  prepared: EvmPrepared
): Effect.fn.Return<TransactionReceipt | undefined, SettlementPending | ChainUnavailable> {
  const raw = hexOf(prepared.raw)
  if (waiters.isKnown && waiters.now < waiters.atOnceMax) {
    waiters.now += 1
    const leave = Effect.sync(() => void (waiters.now -= 1))
    const waited = yield* Effect.result(Effect.ensuring(node.sendAndWait(raw, receiptDeadlineMs), leave))
    if (waited._tag === "Success") return waited.success
    // An answer that cannot be read came from a node that has the transaction.
    if (waited.failure._tag === "ChainUnavailable") return undefined
    if (!isMissing(waited.failure)) return yield* afterRefusal(node, waited.failure, prepared)
    waiters.isKnown = false
  }
  const sent = yield* Effect.result(node.send(raw))
  return sent._tag === "Success" ? undefined : yield* afterRefusal(node, sent.failure, prepared)
})

const isMissing = (error: RpcError) => error instanceof RpcRejected && isMethodMissing(error.code, error.detail)

const afterRefusal = Effect.fnUntraced(function* (
  node: EvmNode,
  error: RpcError,
  { transaction, nonce }: EvmPrepared
): Effect.fn.Return<TransactionReceipt | undefined, SettlementPending | ChainUnavailable> {
  if (!(error instanceof RpcRejected)) {
    if (!error.mayHaveArrived) return yield* new ChainUnavailable({ operation: "send", detail: error.message })
    return yield* new SettlementPending({ transaction, detail: error.message })
  }
  const verdict = sendVerdict(error.detail)
  if (verdict === "waiting") return undefined
  if (verdict === "not taken") return yield* new ChainUnavailable({ operation: "send", detail: error.message })
  // The nonce is taken; perhaps by this very transaction, sent before.
  const own = yield* Effect.orElseSucceed(node.receipt(transaction), () => null)
  if (own !== null) return own
  const detail = `another transaction has the nonce ${nonce}; unless this one was first, it must be signed anew`
  return yield* new SettlementPending({ transaction, detail })
})

const firstPollMs = 25
const lastPollMs = 1_000

const awaitReceipt = Effect.fnUntraced(function* (
  node: EvmNode,
  transaction: string,
  untilMs: number
): Effect.fn.Return<TransactionReceipt, SettlementPending> {
  let pauseMs = firstPollMs
  let detail = "no receipt in time"
  while (true) {
    const found = yield* Effect.result(node.receipt(transaction))
    if (found._tag === "Success" && found.success !== null) return found.success
    if (found._tag === "Failure") detail = found.failure.message
    const leftMs = untilMs - (yield* Clock.currentTimeMillis)
    if (leftMs <= 0) return yield* new SettlementPending({ transaction, detail })
    yield* Effect.sleep(Math.min(pauseMs, leftMs))
    pauseMs = Math.min(pauseMs * 1.5, lastPollMs)
  }
})

const concluded = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions,
  payment: EvmPayment,
  receipt: TransactionReceipt
): Effect.fn.Return<Settlement, Refusal> {
  const transaction = receipt.transactionHash
  const isCarriedOut = readQuantity(receipt.status) === 1n
  if (isCarriedOut && hasTransfer(receipt.logs, payment)) return settlement(payment, transaction)
  const standing = yield* look(node, options, payment, null).pipe(
    Effect.mapError((error) => new SettlementPending({ transaction, detail: error.message }))
  )
  if (standing._tag === "Settled") return settlement(payment, standing.transaction)
  if (standing._tag === "Spent") {
    return yield* settlementRefused("invalid_exact_evm_nonce_already_used", payment.payer, transaction)
  }
  if (isCarriedOut) {
    return yield* settlementRefused("invalid_exact_evm_transfer_event_mismatch", payment.payer, transaction)
  }
  if (standing._tag === "Undecided") return yield* new SettlementPending({ transaction, detail: standing.detail })
  const reason = yield* diagnose(node, payment, "").pipe(
    Effect.mapError((error) => new SettlementPending({ transaction, detail: error.message }))
  )
  const isVague = reason === "invalid_exact_evm_transaction_simulation_failed"
  return yield* settlementRefused(isVague ? "invalid_exact_evm_transaction_failed" : reason, payment.payer, transaction)
})

const settlement = ({ network, payer, amount }: EvmPayment, transaction: string): Settlement => ({
  transaction,
  network,
  payer,
  amount
})
