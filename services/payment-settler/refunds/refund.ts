/**
 * The refunds of one payment: what can still be ordered, how a refund ends, and what the books record about it. A
 * refund is a transfer authorization of the token (EIP-3009) from the account that sends refunds to the payer. Its
 * nonce is stored before anything is signed, and the token accepts it once: however often a refund is sent, and by
 * however many settlers, its money moves at most once. Pure.
 */
import { Result } from "effect"
import {
  isSameAddress,
  type PaymentNetwork,
  type PaymentPayload,
  type PaymentRequirements,
  type Receipt,
  type Refund,
  type RefundedPayment,
  type RefundOrder,
  refundsMax,
  x402Version
} from "#payments/contract"
import type { Authorization } from "#payments"

/** How long a refund is tried: after that its chain no longer accepts it, and it can be ordered again. */
export const refundSeconds = 3_600

/** The charged amount that has not been returned and is not about to be. */
export const leftOf = ({ receipt, refunds }: RefundedPayment): bigint =>
  refunds.reduce(
    (left, { state, amount }) => (state === "failed" ? left : left - BigInt(amount)),
    BigInt(receipt.amount)
  )

interface Ordering {
  readonly order: RefundOrder
  /** The account that sends refunds on the payment's network. */
  readonly from: string
  /** Drawn for this refund only. */
  readonly nonce: string
  readonly nowMs: number
}

/** The payment with the ordered refund; unchanged if its key was ordered before. */
export const withOrdered = (
  payment: RefundedPayment,
  { order, from, nonce, nowMs }: Ordering
): Result.Result<RefundedPayment, string> => {
  const { receipt, refunds } = payment
  const known = refundOf(payment, order.key)
  if (known !== undefined) {
    const isSame = order.amount === null || order.amount === known.amount
    return isSame ? Result.succeed(payment) : Result.fail(`${order.key} is a refund of ${known.amount} already`)
  }
  if (receipt.outcome !== "settled") return Result.fail("nothing was paid by it")
  if (isSameAddress(receipt.network, receipt.payer, from)) return Result.fail("its payer pays the refunds")
  if (refunds.length >= refundsMax) return Result.fail(`it has ${refundsMax} refunds already`)
  const left = leftOf(payment)
  const amount = order.amount === null ? left : BigInt(order.amount)
  if (amount <= 0n || amount > left) {
    return Result.fail(
      left <= 0n ? "all that was charged goes back already" : `from 1 to ${left} units can go back of it`
    )
  }
  const refund: Refund = {
    key: order.key,
    amount: amount.toString(),
    reason: order.reason,
    by: order.by,
    orderedAtMs: nowMs,
    state: "ordered",
    from,
    nonce,
    validBefore: Math.floor(nowMs / 1_000) + refundSeconds,
    transaction: null,
    endedAtMs: null,
    fault: null
  }
  return Result.succeed({ receipt, refunds: [...refunds, refund] })
}

export const refundOf = ({ refunds }: RefundedPayment, key: string): Refund | undefined =>
  refunds.find((refund) => refund.key === key)

/** The payment after a change of a refund that has not ended; undefined if it has. */
export const withChanged = (
  payment: RefundedPayment,
  key: string,
  change: Partial<Refund>
): RefundedPayment | undefined => {
  if (refundOf(payment, key)?.state !== "ordered") return undefined
  return {
    ...payment,
    refunds: payment.refunds.map((refund) => (refund.key === key ? { ...refund, ...change } : refund))
  }
}

export const isOpen = ({ refunds }: RefundedPayment): boolean => refunds.some(({ state }) => state === "ordered")

/** What the account signs. */
export const authorizationOf = ({ receipt }: RefundedPayment, refund: Refund): Authorization => ({
  from: refund.from,
  to: receipt.payer,
  value: BigInt(refund.amount),
  validAfter: 0n,
  validBefore: BigInt(refund.validBefore),
  nonce: refund.nonce
})

// A well-formed signature. The chain is asked about an authorization by its nonce, and nothing is sent with this one.
const noSignature = `0x${"11".repeat(64)}1b`

/** The refund as a payment by `exact`, which is then looked up and sent like any other. */
export const asPayment = (
  payment: RefundedPayment,
  refund: Refund,
  { network, signature = noSignature }: { readonly network: PaymentNetwork; readonly signature?: string }
): { readonly payload: PaymentPayload; readonly requirements: PaymentRequirements } => {
  const { from, to, value, validAfter, validBefore, nonce } = authorizationOf(payment, refund)
  const requirements: PaymentRequirements = {
    scheme: "exact",
    network: network.Network,
    amount: refund.amount,
    asset: network.Asset,
    payTo: to,
    maxTimeoutSeconds: refundSeconds,
    extra: { name: network.AssetName, version: network.AssetVersion }
  }
  const authorization = {
    from,
    to,
    value: value.toString(),
    validAfter: validAfter.toString(),
    validBefore: validBefore.toString(),
    nonce
  }
  return { requirements, payload: { x402Version, accepted: requirements, payload: { signature, authorization } } }
}

/** What the books record about a refund that was made. */
export const refundReceipt = (
  { receipt }: RefundedPayment,
  refund: Refund,
  { transaction, atMs }: { readonly transaction: string; readonly atMs: number }
): Receipt => {
  const { ceiling: _ceiling, providerCost, ...paid } = receipt
  return {
    ...paid,
    amount: refund.amount,
    outcome: "refunded",
    transaction,
    reason: refund.reason.slice(0, 256),
    refund: refund.key,
    // Its payment's cost is known, so this belongs in its margin; the refund itself cost nothing more.
    ...(providerCost === undefined ? {} : { providerCost: "0" }),
    requestedAtMs: refund.orderedAtMs,
    settledAtMs: atMs
  }
}
