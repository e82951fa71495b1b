/**
 * A payment by channel: a voucher for everything that its channel was charged, plus the maximum cost of one more call.
 */
import { Clock, Effect, Result } from "effect"
import type { PaymentPayload, PaymentRequirements, Payments } from "#payments/contract"
import {
  channelVerifier,
  type CheckedVoucher,
  codeOf,
  evmChainIdOf,
  PaymentRefused,
  plainSignature,
  type Quote
} from "#payments"
import { type PaymentFigures, refuse } from "../payment-figures.ts"
import type { Payment } from "../payment-method.ts"
import type { PayableCall } from "../quote.ts"
import type { PaymentRefusal } from "../replies.ts"

/** A payment by channel that matches the quote of its call, or of a refund. */
export interface OfferedVoucher {
  readonly call: Payment["call"] & Pick<PayableCall, "jobId">
  readonly quote: Quote
  readonly payload: PaymentPayload
  readonly requirements: PaymentRequirements
  /** The request's hash, and the client's name for it; a refund has neither. */
  readonly binding?: string
  readonly identifier?: string | null
}

/** A voucher whose fields and signatures are valid. */
export interface Voucher extends OfferedVoucher {
  readonly checked: CheckedVoucher
  readonly name: { readonly network: string; readonly channelId: string }
}

export type VoucherCheck = (offered: OfferedVoucher) => Effect.Effect<Voucher, PaymentRefusal>

export const voucherCheck = ({ Channels }: Payments, figures: PaymentFigures): VoucherCheck => {
  const verifiers = new Map(Channels.map(({ Network }) => [Network, channelVerifier(Network, evmChainIdOf(Network))]))
  return Effect.fnUntraced(function* (offered: OfferedVoucher) {
    const { payload, requirements, binding, identifier } = offered
    const verifier = verifiers.get(requirements.network)
    if (verifier === undefined) return yield* refuse(figures, offered, refusedFor("network_mismatch"))
    const found = verifier(payload, requirements, yield* Clock.currentTimeMillis)
    if (Result.isFailure(found)) return yield* refuse(figures, offered, found.failure)
    const { network, channelId } = found.success
    // A client that repeats a request, and keeps no count, distinguishes the two calls by a name.
    const request = binding === undefined ? {} : { binding: `${binding} ${identifier ?? ""}`.trimEnd() }
    return { ...offered, ...request, checked: found.success, name: { network, channelId } }
  })
}

/** A refusal by one of the protocol's own reasons. */
export const refusedFor = (name: string) => {
  const reason = `invalid_batch_settlement_evm_${name}`
  return new PaymentRefused({ code: codeOf(reason), reason, payer: null })
}

export const targetOf = ({ name, checked }: Voucher) => ({ ...name, config: checked.config })

export const signedOf = ({ checked }: Voucher) => ({
  maxClaimable: checked.payload.voucher.maxClaimableAmount,
  signature: plainSignature(checked.payload.voucher.signature)
})
