/**
 * The local checks of a payment: its form, the domain, the signature, the recipient, the window and the amount, refused
 * in the order in which facilitators report them. Pure; the domains' hashes are cached.
 */
import { Result, Schema } from "effect"
import {
  claimKeyOf,
  EvmAddress,
  ExactEvmPayload,
  type PaymentPayload,
  type PaymentRequirements
} from "#payments/contract"
import type { PaymentRefused } from "../../errors.ts"
import type { CheckedPayment, PreparedSettlement } from "../../scheme.ts"
import { isSameAddress, isWellSpelled } from "./encoding.ts"
import {
  type Authorization,
  authorizationDigest,
  type CurveSignature,
  type DomainSeparators,
  readSignature,
  recoverAddress
} from "./signature.ts"
import { type EvmReason, refused } from "./simulate.ts"

interface CheckOptions {
  readonly network: string
  readonly chainId: bigint
  readonly domains: DomainSeparators
  /** An authorization that ends sooner may not reach a block in time. */
  readonly marginSeconds: number
  /** The signature passed before: recovering the signer is most of the cost of a check. */
  readonly isSignatureKnown: boolean
}

// A client may sign for this much longer than requested, because its clock may run ahead of ours.
export const clockSkewSeconds = 60n

const decodePayload = Schema.decodeUnknownResult(ExactEvmPayload)
const isAddress = Schema.is(EvmAddress)

export const checkPayment = (
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  nowMs: number,
  options: CheckOptions
): Result.Result<EvmPayment, PaymentRefused> => {
  const decoded = decodePayload(payload.payload)
  if (Result.isFailure(decoded)) return Result.fail(refused(unreadable(payload.payload), null))
  const authorization = authorizationOf(decoded.success)
  const payer = authorization.from.toLowerCase()
  const refuse = (reason: EvmReason) => Result.fail(refused(reason, payer))

  const { name, version } = requirements.extra ?? {}
  if (!isFilled(name) || !isFilled(version)) return refuse("invalid_exact_evm_missing_eip712_domain")
  if (!isAddress(requirements.asset) || !isAddress(requirements.payTo)) return refuse("invalid_payment_requirements")
  if (requirements.network !== options.network || payload.accepted.network !== requirements.network) {
    return refuse("invalid_exact_evm_network_mismatch")
  }
  const signature = readSignature(decoded.success.signature)
  if (Result.isFailure(signature)) {
    const isUndeployed = signature.failure === "smart wallet not deployed"
    return refuse(isUndeployed ? "eip6492_factory_not_allowed" : "invalid_exact_evm_signature")
  }
  const domain = { name, version, chainId: options.chainId, asset: requirements.asset }
  if (!options.isSignatureKnown && !isSignedBy(payer, authorization, signature.success, options.domains.of(domain))) {
    return refuse("invalid_exact_evm_signature")
  }
  const fault = termsFault(authorization, requirements, nowMs, options.marginSeconds)
  if (fault !== undefined)
    return Result.fail(refused(fault, payer, detailOf(fault, authorization, requirements, nowMs)))

  const asset = requirements.asset.toLowerCase()
  return Result.succeed({
    network: options.network,
    asset,
    payer,
    payTo: requirements.payTo.toLowerCase(),
    amount: authorization.value,
    charge: authorization.value,
    claimKey: claimKeyOf({ network: options.network, asset, payer, nonce: authorization.nonce }),
    validBeforeMs: Number(authorization.validBefore) * 1_000,
    payload,
    requirements,
    authorization,
    signature: signature.success
  })
}

const isSignedBy = (payer: string, authorization: Authorization, signature: CurveSignature, separator: Uint8Array) =>
  isWellSpelled(authorization.from) &&
  isWellSpelled(authorization.to) &&
  recoverAddress(authorizationDigest(separator, authorization), signature) === payer

/** Recipient, window and amount. The amount is exact: neither less nor more than requested. */
export const termsFault = (
  { to, value, validAfter, validBefore }: Authorization,
  { payTo, amount, maxTimeoutSeconds }: PaymentRequirements,
  nowMs: number,
  marginSeconds: number
): EvmReason | undefined => {
  if (!isSameAddress(to, payTo)) return "invalid_exact_evm_recipient_mismatch"
  const now = BigInt(Math.floor(nowMs / 1_000))
  if (validBefore < now + BigInt(marginSeconds)) return "invalid_exact_evm_payload_authorization_valid_before"
  if (validBefore > now + BigInt(maxTimeoutSeconds) + clockSkewSeconds) {
    return "invalid_exact_evm_payload_authorization_valid_too_long"
  }
  if (validAfter > now) return "invalid_exact_evm_payload_authorization_valid_after"
  return value === BigInt(amount) ? undefined : "invalid_exact_evm_payload_authorization_value_mismatch"
}

/** By how much a window is too long: the standard reasons do not include it. */
const detailOf = (
  fault: EvmReason,
  { validBefore }: Authorization,
  { maxTimeoutSeconds }: PaymentRequirements,
  nowMs: number
) => {
  if (fault !== "invalid_exact_evm_payload_authorization_valid_too_long") return undefined
  const secondsLeft = validBefore - BigInt(Math.floor(nowMs / 1_000))
  const allowed = `maxTimeoutSeconds, ${maxTimeoutSeconds} s, and ${clockSkewSeconds} s for clocks that differ`
  return `validBefore is ${secondsLeft} s ahead; it may be at most ${allowed}`
}

const authorizationOf = ({ authorization }: ExactEvmPayload): Authorization => ({
  from: authorization.from,
  to: authorization.to,
  value: BigInt(authorization.value),
  validAfter: BigInt(authorization.validAfter),
  validBefore: BigInt(authorization.validBefore),
  nonce: authorization.nonce
})

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== ""

const Authorized = Schema.Struct({ authorization: ExactEvmPayload.fields.authorization })
const isAuthorized = Schema.is(Authorized)

/** A payload whose only fault is a signature that is not hex is refused for the signature, as other facilitators do. */
const unreadable = (payload: unknown): EvmReason =>
  isAuthorized(payload) ? "invalid_exact_evm_signature" : "invalid_payload"

/** Addresses are in lower case; `payTo` and `amount` are the authorization's own. */
export interface EvmPayment extends CheckedPayment {
  readonly authorization: Authorization
  readonly signature: CurveSignature
}

/** `nonce`: the settler's account's. */
export interface EvmPrepared extends PreparedSettlement {
  readonly transaction: string
  readonly nonce: number
}
