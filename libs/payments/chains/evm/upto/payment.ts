/**
 * The local checks of a payment of `upto`, in the order in which facilitators report the faults: the proxy, the
 * recipient, the facilitator, the window, the maximum, the token, the signature, and an approval that comes with it.
 * Pure.
 *
 * A signature that no key can have made may be that of a contract wallet (ERC-1271), which only the chain can verify.
 * Such a payment passes as `isUnproven`: nothing is claimed for it until the chain has confirmed it.
 */
import { Result, Schema } from "effect"
import {
  claimKeyOf,
  Eip2612Approval,
  EvmAddress,
  type PaymentPayload,
  type PaymentRequirements,
  UptoEvmPayload
} from "#payments/contract"
import type { PaymentRefused } from "../../../errors.ts"
import type { CheckedPayment } from "../../../scheme.ts"
import { bytesOf, isSameAddress, isWellSpelled } from "../encoding.ts"
import { clockSkewSeconds } from "../payment.ts"
import { permit2Address, permitDigest, permitNonceName } from "../permit2.ts"
import { type Deployment, readSignature, recoverAddress, unwrapped } from "../signature.ts"
import { type EvmReason, refused } from "../simulate.ts"
import { type SignedApproval, type UptoPermit, uptoProxyAddress, uptoTransferType, witnessHash } from "./proxy.ts"

export interface UptoCheckOptions {
  readonly network: string
  /** The hash of Permit2's domain on this chain. */
  readonly domain: Uint8Array
  /** The accounts that may settle, in lower case. */
  readonly facilitators: ReadonlyArray<string>
  /** A permit that ends sooner may not reach a block in time. */
  readonly marginSeconds: number
  /** The signature passed before: recovering the signer is most of the cost of a check. */
  readonly isSignatureKnown: boolean
}

/** Addresses are in lower case. */
export interface UptoPayment extends CheckedPayment {
  readonly facilitator: string
  readonly permit: UptoPermit
  /** As the proxy receives it: without the part that deploys a wallet. */
  readonly signature: Uint8Array
  /** The approval of Permit2 sent with it; null if the payer has approved it before. */
  readonly approval: SignedApproval | null
  /** How the payer's wallet is deployed, if it is not deployed yet (ERC-6492). */
  readonly deployment: Deployment | null
}

const decodePayload = Schema.decodeUnknownResult(UptoEvmPayload)
const decodeApproval = Schema.decodeUnknownResult(Eip2612Approval)
const isAddress = Schema.is(EvmAddress)

export const checkUptoPayment = (
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  nowMs: number,
  options: UptoCheckOptions
): Result.Result<UptoPayment, PaymentRefused> => {
  const decoded = decodePayload(payload.payload)
  if (Result.isFailure(decoded)) return Result.fail(refused("invalid_payload", null))
  const permit = permitOf(decoded.success)
  const payer = permit.from
  const refuse = (reason: EvmReason, detail?: string) => Result.fail(refused(reason, payer, detail))

  if (payload.accepted.scheme !== "upto" || requirements.scheme !== "upto") return refuse("invalid_upto_evm_scheme")
  if (!isAddress(requirements.asset) || !isAddress(requirements.payTo)) return refuse("invalid_payment_requirements")
  if (requirements.network !== options.network || payload.accepted.network !== requirements.network) {
    return refuse("invalid_upto_evm_network_mismatch")
  }
  const fault = permitFault(permit, requirements, nowMs, options)
  if (fault !== undefined) return refuse(fault, detailOf(fault, permit, requirements, nowMs))
  const signed = signatureOf(decoded.success, permit, options)
  if (Result.isFailure(signed)) return refuse(signed.failure)
  const approval = approvalOf(payload, permit, nowMs, options.marginSeconds)
  if (Result.isFailure(approval)) return refuse(approval.failure)

  const asset = permit.token
  const nonce = permitNonceName(permit.nonce)
  return Result.succeed({
    network: options.network,
    asset,
    payer,
    payTo: permit.to,
    amount: permit.amount,
    charge: permit.amount,
    facilitator: permit.facilitator,
    claimKey: claimKeyOf({ network: options.network, asset, payer, nonce }),
    validBeforeMs: Number(permit.deadline) * 1_000,
    payload,
    requirements,
    permit,
    approval: approval.success,
    ...signed.success
  })
}

const permitOf = ({ permit2Authorization }: UptoEvmPayload): UptoPermit => {
  const { from, permitted, spender, nonce, deadline, witness } = permit2Authorization
  return {
    from: from.toLowerCase(),
    token: permitted.token.toLowerCase(),
    amount: BigInt(permitted.amount),
    spender: spender.toLowerCase(),
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
    to: witness.to.toLowerCase(),
    facilitator: witness.facilitator.toLowerCase(),
    validAfter: BigInt(witness.validAfter)
  }
}

/** What a payment states about itself, unverified; undefined if it is not such a payment. */
export const statedTermsOf = ({ payload }: PaymentPayload) => {
  const decoded = decodePayload(payload)
  if (Result.isFailure(decoded)) return undefined
  const { from, nonce, deadline, amount } = permitOf(decoded.success)
  return {
    payer: from,
    nonce: permitNonceName(nonce),
    validBeforeMs: Number(deadline) * 1_000,
    amount: amount.toString()
  }
}

/** Everything but the signature. The signed maximum is exactly the quoted one. */
export const permitFault = (
  permit: UptoPermit,
  { payTo, amount, asset, maxTimeoutSeconds }: PaymentRequirements,
  nowMs: number,
  { facilitators, marginSeconds }: Pick<UptoCheckOptions, "facilitators" | "marginSeconds">
): EvmReason | undefined => {
  if (permit.spender !== uptoProxyAddress) return "invalid_permit2_spender"
  if (!isSameAddress(permit.to, payTo)) return "invalid_permit2_recipient_mismatch"
  if (!facilitators.includes(permit.facilitator)) return "upto_facilitator_mismatch"
  const now = BigInt(Math.floor(nowMs / 1_000))
  if (permit.deadline < now + BigInt(marginSeconds)) return "permit2_deadline_expired"
  if (permit.deadline > now + BigInt(maxTimeoutSeconds) + clockSkewSeconds) return "permit2_deadline_too_long"
  if (permit.validAfter > now) return "permit2_not_yet_valid"
  if (permit.amount !== BigInt(amount)) return "permit2_amount_mismatch"
  return isSameAddress(permit.token, asset) ? undefined : "permit2_token_mismatch"
}

/** By how much a window is too long: the standard reasons do not include it. */
const detailOf = (
  fault: EvmReason,
  { deadline }: UptoPermit,
  { maxTimeoutSeconds }: PaymentRequirements,
  nowMs: number
) => {
  if (fault !== "permit2_deadline_too_long") return undefined
  const secondsLeft = deadline - BigInt(Math.floor(nowMs / 1_000))
  const allowed = `maxTimeoutSeconds, ${maxTimeoutSeconds} s, and ${clockSkewSeconds} s for clocks that differ`
  return `the deadline is ${secondsLeft} s ahead; it may be at most ${allowed}`
}

type Signed = Pick<UptoPayment, "signature" | "deployment" | "isUnproven">

const signatureOf = (
  { signature, permit2Authorization }: UptoEvmPayload,
  permit: UptoPermit,
  { domain, isSignatureKnown }: UptoCheckOptions
): Result.Result<Signed, EvmReason> => {
  const { from, witness, permitted } = permit2Authorization
  if (![from, witness.to, witness.facilitator, permitted.token].every(isWellSpelled)) {
    return Result.fail("invalid_permit2_signature")
  }
  const wallet = unwrapped(signature)
  if (wallet === undefined) return Result.fail("invalid_permit2_signature")
  const { inner, deployment } = wallet
  const bytes = new Uint8Array(bytesOf(inner))
  const isProven = deployment === null && (isSignatureKnown || isSignedBy(permit, inner, domain))
  return Result.succeed({ signature: bytes, deployment, ...(isProven ? {} : { isUnproven: true as const }) })
}

const isSignedBy = (permit: UptoPermit, signature: string, domain: Uint8Array) => {
  const read = readSignature(signature)
  if (Result.isFailure(read)) return false
  return (
    recoverAddress(permitDigest(domain, uptoTransferType, permit, witnessHash(permit)), read.success) === permit.from
  )
}

const extension = "eip2612GasSponsoring"

/** The approval of Permit2 that a payer has signed over the amount of such a transfer; null without one. */
export const approvalOf = (
  { extensions }: PaymentPayload,
  permit: Pick<UptoPermit, "from" | "token" | "amount">,
  nowMs: number,
  marginSeconds: number
): Result.Result<SignedApproval | null, EvmReason> => {
  const declared = extensions?.[extension]
  const info = typeof declared === "object" && declared !== null && "info" in declared ? declared.info : undefined
  // A client that has approved before echoes our own declaration, which approves nothing.
  if (typeof info !== "object" || info === null || !("signature" in info)) return Result.succeed(null)
  const decoded = decodeApproval(info)
  if (Result.isFailure(decoded)) return Result.fail("invalid_eip2612_extension_format")
  const { from, asset, spender, amount, deadline, signature } = decoded.success
  if (!isSameAddress(from, permit.from)) return Result.fail("eip2612_from_mismatch")
  if (!isSameAddress(asset, permit.token)) return Result.fail("eip2612_asset_mismatch")
  if (!isSameAddress(spender, permit2Address)) return Result.fail("eip2612_spender_not_permit2")
  const soon = BigInt(Math.floor(nowMs / 1_000) + marginSeconds)
  if (BigInt(deadline) < soon) return Result.fail("eip2612_deadline_expired")
  if (BigInt(amount) !== permit.amount) return Result.fail("permit2_2612_amount_mismatch")
  return Result.succeed({
    value: permit.amount,
    deadline: BigInt(deadline),
    signature: new Uint8Array(bytesOf(signature))
  })
}
