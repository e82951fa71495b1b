/**
 * What a facilitator's answer means. Pure. A status of 5xx, 408 or 429, or a body that breaks the protocol,
 * says nothing of the payment, whatever it claims.
 */
import { Effect } from "effect"
import type { PaymentRequirements, SettleResponse, VerifyResponse } from "#contracts"
import { ChainUnavailable, PaymentRefused, SettlementPending, SettlementRefused } from "../errors.ts"
import { codeOf } from "../reasons.ts"
import type { Settlement } from "../scheme.ts"

const saysNothing = (status: number) => status >= 500 || status === 408 || status === 429

export const readVerification = (
  status: number,
  answer: VerifyResponse | undefined
): Effect.Effect<string | null, PaymentRefused | ChainUnavailable> => {
  const operation = "ask the facilitator to verify"
  if (saysNothing(status)) return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  if (answer === undefined) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status} with a body of another form` }))
  }
  const payer = answer.payer ?? null
  if (answer.isValid && status < 300) return Effect.succeed(payer)
  const reason = answer.invalidReason ?? "unexpected_verify_error"
  if (answer.isValid || transient.has(reason)) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}: ${reason}` }))
  }
  const detail = answer.invalidMessage
  const code = codeOf(reason, detail)
  return Effect.fail(new PaymentRefused({ code, reason, payer, ...(detail === undefined ? {} : { detail }) }))
}

// What facilitators say when they, not the payment, are at fault.
const transient = new Set(["unexpected_verify_error", "unexpected_settle_error", "settlement_pending"])

export const readSettlement = (
  status: number,
  answer: SettleResponse | undefined,
  requirements: PaymentRequirements
): Effect.Effect<Settlement, SettlementRefused | SettlementPending | ChainUnavailable> => {
  const transaction = answer === undefined || answer.transaction === "" ? null : answer.transaction
  const pending = (detail: string) => Effect.fail(new SettlementPending({ transaction, detail }))
  if (saysNothing(status)) return pending(`status ${status}`)
  if (answer === undefined) {
    if (status < 400) return pending(`status ${status} with a body of another form`)
    const operation = "ask the facilitator to settle"
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  }
  if (answer.success) {
    if (status >= 300) return pending(`success with status ${status}`)
    if (transaction === null) return pending("success without a transaction")
    if (answer.network !== requirements.network) return pending(`success on ${answer.network}`)
    if (answer.amount !== undefined && answer.amount !== requirements.amount) return pending("another amount")
    const { network } = answer
    return Effect.succeed({ transaction, network, payer: answer.payer ?? "", amount: BigInt(requirements.amount) })
  }
  const reason = answer.errorReason ?? "unexpected_settle_error"
  // Sent and refused is for the chain to say, not for somebody who has seen a transaction fail.
  if (transient.has(reason) || transaction !== null) return pending(reason)
  const code = codeOf(reason, answer.errorMessage)
  return Effect.fail(new SettlementRefused({ code, reason, payer: answer.payer ?? null, transaction }))
}
