/**
 * Sends a signed transaction until it is in a block. A node can drop or skip a transaction silently. The same bytes are
 * therefore sent again after a while, which is harmless; the answer shows whether another transaction has the nonce for
 * good.
 */
import { Clock, Effect } from "effect"
import { ChainUnavailable, SettlementPending, type SettlementRefused } from "../../errors.ts"
import { RpcRejected, type RpcError } from "../json-rpc.ts"
import type { EvmNode, TransactionReceipt } from "./EvmNode.ts"
import type { EvmPrepared, EvmPayment } from "./payment.ts"
import type { EvmSettings } from "./settings.ts"
import { type Hex, hexOf, readQuantity } from "./encoding.ts"
import type { Settlement } from "../../scheme.ts"
import { look, type LookOptions } from "./look.ts"
import { settlementRefused, diagnose } from "./simulate.ts"
import { hasTransfer } from "./token.ts"

export interface SendOptions extends Pick<EvmSettings, "receiptDeadlineMs" | "resendMs"> {
  readonly waiters: Waiters
}

/** The sends that wait at the node for their block, each with a connection of its own. */
interface Waiters {
  /** Whether the node has the method that sends and waits in one; a refusal is cached. */
  isKnown: boolean
  now: number
  /**
   * Fewer than there are connections: a waiting send can depend on an earlier transaction of the same account, which
   * must still find a connection. A send beyond this number polls for its receipt.
   */
  readonly atOnceMax: number
}

/**
 * `SettlementPending`: no receipt in time, or another transaction has the nonce. `ChainUnavailable`: it was never sent.
 */
export const sendForReceipt = Effect.fnUntraced(function* (
  node: EvmNode,
  options: SendOptions,
  prepared: EvmPrepared
): Effect.fn.Return<TransactionReceipt, SettlementPending | ChainUnavailable> {
  const sentAtMs = yield* Clock.currentTimeMillis
  const raw = hexOf(prepared.raw)
  const receipt = yield* sendFirst(node, options, prepared, raw)
  return receipt ?? (yield* awaitReceipt(node, options, prepared, raw, sentAtMs))
})

/** The receipt, if the node waited for it; undefined when it must be polled. */
const sendFirst = Effect.fnUntraced(function* (
  node: EvmNode,
  { waiters, receiptDeadlineMs, resendMs }: SendOptions,
  prepared: EvmPrepared,
  raw: Hex
): Effect.fn.Return<TransactionReceipt | undefined, SettlementPending | ChainUnavailable> {
  if (waiters.isKnown && waiters.now < waiters.atOnceMax) {
    waiters.now += 1
    const leave = Effect.sync(() => void (waiters.now -= 1))
    const waitMs = Math.min(receiptDeadlineMs, resendMs)
    const waited = yield* Effect.result(Effect.ensuring(node.sendAndWait(raw, waitMs), leave))
    if (waited._tag === "Success") return waited.success
    // An unreadable answer came from a node that has the transaction; a node that waits may have it.
    if (waited.failure._tag === "ChainUnavailable" || isWaitOver(waited.failure)) return undefined
    if (!isMissing(waited.failure)) return yield* afterRefusal(node, waited.failure, prepared)
    waiters.isKnown = false
  }
  const sent = yield* Effect.result(node.send(raw))
  return sent._tag === "Success" ? undefined : yield* afterRefusal(node, sent.failure, prepared)
})

const isWaitOver = (error: RpcError) => error._tag === "RpcUnavailable" && error.why === "wait over"

const isMissing = (error: RpcError) => error instanceof RpcRejected && isMethodMissing(error.code, error.detail)

const afterRefusal = Effect.fnUntraced(function* (
  node: EvmNode,
  error: RpcError,
  prepared: EvmPrepared
): Effect.fn.Return<TransactionReceipt | undefined, SettlementPending | ChainUnavailable> {
  if (!(error instanceof RpcRejected)) {
    if (!error.mayHaveArrived) return yield* new ChainUnavailable({ operation: "send", detail: error.message })
    return yield* new SettlementPending({ transaction: prepared.transaction, detail: error.message })
  }
  const verdict = sendVerdict(error.detail)
  if (verdict === "waiting") return undefined
  if (verdict === "not taken") return yield* new ChainUnavailable({ operation: "send", detail: error.message })
  return yield* outrun(node, prepared)
})

const outrunOf = ({ nonce }: EvmPrepared) =>
  `another transaction has the nonce ${nonce}; unless this one was first, it must be signed anew`

/** The nonce is taken, perhaps by this same transaction, sent earlier. */
const outrun = Effect.fnUntraced(function* (
  node: EvmNode,
  prepared: EvmPrepared
): Effect.fn.Return<TransactionReceipt, SettlementPending> {
  const { transaction } = prepared
  const own = yield* Effect.orElseSucceed(node.receipt(transaction), () => null)
  return own ?? (yield* new SettlementPending({ transaction, detail: outrunOf(prepared) }))
})

const firstPollMs = 25
const lastPollMs = 1_000

const awaitReceipt = Effect.fnUntraced(function* (
  node: EvmNode,
  { receiptDeadlineMs, resendMs }: SendOptions,
  prepared: EvmPrepared,
  raw: Hex,
  sentAtMs: number
): Effect.fn.Return<TransactionReceipt, SettlementPending> {
  const { transaction } = prepared
  let [untilMs, resendAtMs] = [sentAtMs + receiptDeadlineMs, sentAtMs + resendMs]
  let [pauseMs, detail] = [firstPollMs, "no receipt in time"]
  while (true) {
    const found = yield* Effect.result(node.receipt(transaction))
    if (found._tag === "Success" && found.success !== null) return found.success
    if (found._tag === "Failure") detail = found.failure.message
    const nowMs = yield* Clock.currentTimeMillis
    if (nowMs >= untilMs) return yield* new SettlementPending({ transaction, detail })
    if (nowMs >= resendAtMs) {
      resendAtMs = nowMs + resendMs
      if (yield* isOutrunNow(node, raw)) {
        // If this one was first, its receipt comes soon: nodes behind one address see a block at different moments.
        untilMs = Math.min(untilMs, nowMs + lastPollMs)
        detail = outrunOf(prepared)
      }
    }
    yield* Effect.sleep(Math.min(pauseMs, Math.max(0, untilMs - nowMs)))
    pauseMs = Math.min(pauseMs * 1.5, lastPollMs)
  }
})

/** Judged by the node's answer to the same bytes sent once more; on any other answer the first send counts. */
const isOutrunNow = (node: EvmNode, raw: Hex) =>
  Effect.match(node.send(raw), {
    onSuccess: () => false,
    onFailure: (error) => error instanceof RpcRejected && sendVerdict(error.detail) === "outrun"
  })

type Refusal = SettlementRefused | SettlementPending | ChainUnavailable

/**
 * Sends a signed settlement and waits for the token's own proof that the transfer was made: a receipt of success and
 * the Transfer event. A transaction that fails because the same authorization was submitted first by someone else is
 * paid all the same. A transaction that may be on its way is pending, never refused; only one that certainly is not is
 * `ChainUnavailable`.
 */
export const broadcast = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions & SendOptions,
  prepared: EvmPrepared,
  payment: EvmPayment
): Effect.fn.Return<Settlement, Refusal> {
  return yield* concluded(node, options, payment, yield* sendForReceipt(node, options, prepared))
})

const concluded = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions,
  payment: EvmPayment,
  receipt: TransactionReceipt
): Effect.fn.Return<Settlement, Refusal> {
  const transaction = receipt.transactionHash
  const isCarriedOut = readQuantity(receipt.status) === 1n
  if (isCarriedOut && hasTransfer(receipt.logs, payment)) return { transaction }
  const status = yield* look(node, options, payment, null).pipe(
    Effect.mapError((error) => new SettlementPending({ transaction, detail: error.message }))
  )
  if (status._tag === "Settled") return { transaction: status.transaction }
  if (status._tag === "Spent") {
    return yield* settlementRefused("invalid_exact_evm_nonce_already_used", payment.payer, transaction)
  }
  if (isCarriedOut) {
    return yield* settlementRefused("invalid_exact_evm_transfer_event_mismatch", payment.payer, transaction)
  }
  if (status._tag === "Undecided") return yield* new SettlementPending({ transaction, detail: status.detail })
  const reason = yield* diagnose(node, payment, "").pipe(
    Effect.mapError((error) => new SettlementPending({ transaction, detail: error.message }))
  )
  const isVague = reason === "invalid_exact_evm_transaction_simulation_failed"
  return yield* settlementRefused(isVague ? "invalid_exact_evm_transaction_failed" : reason, payment.payer, transaction)
})

/**
 * The meaning of a node's refusal of a transaction, by the words that nodes use. Pure. `waiting`: the chain has it, or
 * may have it; its receipt decides. `outrun`: another transaction has its nonce; this one will not run unless it
 * already has. `not taken`: it is certainly not on its way.
 */
type SendVerdict = "waiting" | "outrun" | "not taken"

const rules: ReadonlyArray<readonly [RegExp, SendVerdict]> = [
  [/already known|already imported|known transaction|already in mempool|alreadyknown/iu, "waiting"],
  [/nonce too low|nonce is too low|invalid transaction nonce|nonce has already been used/iu, "outrun"],
  [/replacement transaction underpriced|replacement.{0,80}underpriced|transaction with the same nonce/iu, "outrun"],
  // EIP-7966: accepted, and the wait is over; or accepted behind a gap in the account's nonces.
  [/timeout|timed out|was added to the mempool|added to the (?:tx)?pool|nonce gap|queued/iu, "waiting"]
]

export const sendVerdict = (text: string): SendVerdict => {
  for (const [pattern, verdict] of rules) if (pattern.test(text)) return verdict
  return "not taken"
}

// The JSON-RPC code of a missing method; some nodes report it in words under another code.
const methodMissing = -32_601

export const isMethodMissing = (code: number, text: string): boolean =>
  code === methodMissing ||
  /method not found|method .{1,80} (?:not found|does not exist|not supported)|not whitelisted/iu.test(text)
