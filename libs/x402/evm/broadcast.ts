/**
 * Sends a signed settlement and waits for the token's own word that the transfer was made: a receipt of success and
 * the Transfer event. A transaction that fails because somebody submitted the same authorization first is paid all
 * the same. What may be on its way is pending, never refused; only what certainly is not is `ChainUnavailable`.
 */
import { Effect } from "effect"
import { type ChainUnavailable, SettlementPending, type SettlementRefused } from "../errors.ts"
import type { Settlement } from "../scheme.ts"
import type { EvmNode, TransactionReceipt } from "./EvmNode.ts"
import type { EvmPayment, EvmPrepared } from "./EvmPayment.ts"
import { readQuantity } from "./hex.ts"
import { look, type LookOptions } from "./look.ts"
import { settlementRefused } from "./reasons.ts"
import { type SendOptions, sendForReceipt } from "./send-for-receipt.ts"
import { diagnose } from "./simulate.ts"
import { hasTransfer } from "./transfer-logs.ts"

type Refusal = SettlementRefused | SettlementPending | ChainUnavailable

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
