/**
 * Whether what a client says it accepted is one of our offers. Field by field, never by bytes: clients write
 * the entry anew, in an order and with additions of their own. The amount must be the very one, so a payment
 * signed from an old quote is answered with the new one. Pure.
 */
import { Result } from "effect"
import type { PaymentPayload, PaymentRequirements } from "#contracts"
import { PaymentRefused } from "../errors.ts"
import { reason } from "../reasons.ts"

/** Our own requirements that the payment is for. */
export const matchOffer = (
  payload: PaymentPayload,
  offers: ReadonlyArray<PaymentRequirements>
): Result.Result<PaymentRequirements, PaymentRefused> => {
  const { accepted } = payload
  const onNetwork = offers.filter((offer) => offer.network === accepted.network)
  if (onNetwork.length === 0) return refused(reason.invalidNetwork, `${accepted.network} is not offered here`)
  let wrong = ""
  for (const offer of onNetwork) {
    const field = differingField(accepted, offer)
    if (field === undefined) return Result.succeed(offer)
    wrong ||= field
  }
  const text = wrong === "scheme" ? reason.invalidScheme : reason.invalidRequirements
  return refused(text, `accepted.${wrong} is not what is quoted`)
}

/** The first field that differs from what is required. */
export const differingField = (accepted: PaymentRequirements, required: PaymentRequirements): string | undefined => {
  const isSameAddress = sameAddress(required.network)
  if (accepted.scheme !== required.scheme) return "scheme"
  if (accepted.network !== required.network) return "network"
  if (!isSameAddress(accepted.asset, required.asset)) return "asset"
  if (!isSameAddress(accepted.payTo, required.payTo)) return "payTo"
  if (accepted.amount !== required.amount) return "amount"
  if (accepted.maxTimeoutSeconds !== required.maxTimeoutSeconds) return "maxTimeoutSeconds"
  // What we put into `extra` is text; what a client adds is its own.
  const given = accepted.extra ?? {}
  const missing = Object.entries(required.extra ?? {}).find(([key, value]) => given[key] !== value)
  return missing === undefined ? undefined : `extra.${missing[0]}`
}

const sameAddress = (network: string) =>
  network.startsWith("eip155:")
    ? (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
    : (one: string, other: string) => one === other

const refused = (text: string, detail: string) =>
  Result.fail(new PaymentRefused({ code: "PAYMENT_INVALID", reason: text, payer: null, detail }))
