/**
 * What a facilitator's answer means. Pure. A status of 5xx, 408 or 429, or a body that breaks the protocol,
 * says nothing of the payment, whatever it claims. Its words go to payers, so nothing of what stands behind it, or of how
 * we reach it, is left in them; the code is read before.
 */
import { Effect } from "effect"
import type { PaymentRequirements, SettleResponse, VerifyResponse } from "#contracts"
import { sanitise, type SanitiseOptions } from "#egress"
import { ChainUnavailable, PaymentRefused, SettlementPending, SettlementRefused } from "../errors.ts"
import { codeOf } from "../reasons.ts"
import type { Settlement } from "../scheme.ts"

/** What must not be told of a facilitator that is asked at this URL: its host, and keys that stand in the path. */
export const hiddenOf = (url: string): SanitiseOptions => {
  const { host, hostname, pathname, search, username, password } = new URL(url)
  const parts = [...pathname.split("/"), ...search.split(/[?&=]/u), username, password]
  return { secrets: parts.filter((part) => part.length >= 12), names: [host, hostname] }
}

const nothingHidden: SanitiseOptions = { secrets: [], names: [] }

/** A reason is a word of the protocol; one that is more is told only as far as it may be. */
const toldReason = (reason: string, hidden: SanitiseOptions) => sanitise(reason, hidden) ?? "unexpected_verify_error"

/** Shown to whoever sent the payment: an account, or nothing. */
const addressOf = (payer: string | undefined) =>
  payer !== undefined && /^[0-9A-Za-z]{1,64}$/u.test(payer) ? payer : null

const saysNothing = (status: number) => status >= 500 || status === 408 || status === 429

export const readVerification = (
  status: number,
  answer: VerifyResponse | undefined,
  hidden = nothingHidden
): Effect.Effect<string | null, PaymentRefused | ChainUnavailable> => {
  const operation = "ask the facilitator to verify"
  if (saysNothing(status)) return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}` }))
  if (answer === undefined) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status} with a body of another form` }))
  }
  const payer = addressOf(answer.payer)
  if (answer.isValid && status < 300) return Effect.succeed(payer)
  const reason = answer.invalidReason ?? "unexpected_verify_error"
  if (answer.isValid || transient.has(reason)) {
    return Effect.fail(new ChainUnavailable({ operation, detail: `status ${status}: ${reason}` }))
  }
  const code = codeOf(reason, answer.invalidMessage)
  const detail = sanitise(answer.invalidMessage ?? "", hidden)
  return Effect.fail(
    new PaymentRefused({ code, reason: toldReason(reason, hidden), payer, ...(detail === undefined ? {} : { detail }) })
  )
}

// What facilitators say when they, not the payment, are at fault.
const transient = new Set(["unexpected_verify_error", "unexpected_settle_error", "settlement_pending"])

export const readSettlement = (
  status: number,
  answer: SettleResponse | undefined,
  requirements: PaymentRequirements,
  hidden = nothingHidden
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
  const told = toldReason(reason, hidden)
  return Effect.fail(new SettlementRefused({ code, reason: told, payer: addressOf(answer.payer), transaction }))
}
