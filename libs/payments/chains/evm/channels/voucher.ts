/**
 * The local checks of a payment by channel: its form, that its channel is payable to us with the terms of the offer,
 * and the signatures of its voucher and its deposit. Pure. A voucher must be signed by a key: one that only a contract
 * wallet can confirm is refused, because such a wallet's answer can change before the voucher is claimed.
 */
import { Result, Schema } from "effect"
import {
  type ChannelConfig,
  ChannelPayload,
  type DepositAuthorization,
  type PaymentPayload,
  type PaymentRequirements,
  withdrawDelaySecondsMax,
  withdrawDelaySecondsMin
} from "#payments/contract"
import { codeOf, PaymentRefused, reason as paymentReason } from "../../../errors.ts"
import { bytesOf, hexOf, isSameAddress } from "../encoding.ts"
import {
  domainSeparator,
  DomainSeparators,
  readSignature,
  receiveDigest,
  recoverAddress,
  signatureBytes
} from "../signature.ts"
import { permitDomain } from "../permit2.ts"
import { approvalOf } from "../upto/payment.ts"
import {
  channelIdOf,
  channelsDomain,
  depositCollectorAddress,
  depositNonce,
  type Erc3009Deposit,
  permit2CollectorAddress,
  type Permit2Deposit,
  permit2DepositDigest,
  voucherDigest
} from "./contract.ts"

const zeroAddress = `0x${"0".repeat(40)}`

/** A payment whose fields and signatures are valid; whether its channel accepts it is not yet known. */
export interface CheckedVoucher {
  readonly network: string
  readonly channelId: string
  readonly config: ChannelConfig
  readonly payload: ChannelPayload
  /** For a payment that deposits first. */
  readonly deposit?: { readonly amount: string; readonly authorization: DepositAuthorization }
}

interface CheckTerms {
  readonly network: string
  readonly chainId: bigint
  /** The hash of the channel contract's domain. */
  readonly separator: Uint8Array
  readonly domains: DomainSeparators
  /** The hash of Permit2's domain on this chain. */
  readonly permit2: Uint8Array
  /** A deposit's authorization that ends sooner may not reach a block in time. */
  readonly marginSeconds: number
}

const evm = (name: string) => `invalid_batch_settlement_evm_${name}`
const decodePayload = Schema.decodeUnknownResult(ChannelPayload)

export const checkVoucher = (
  payment: PaymentPayload,
  requirements: PaymentRequirements,
  nowMs: number,
  terms: CheckTerms
): Result.Result<CheckedVoucher, PaymentRefused> => {
  const decoded = decodePayload(payment.payload)
  if (Result.isFailure(decoded)) {
    return Result.fail(refusal(paymentReason.invalidPayload, null, "its payload is none of this scheme"))
  }
  const payload = decoded.success
  const { channelConfig: config, voucher } = payload
  const payer = config.payer.toLowerCase()
  const channelId = channelIdOf(terms.separator, config)
  const refuse = (fault: string) => Result.fail(refusal(fault, payer))
  const fault =
    (channelId === voucher.channelId.toLowerCase() ? undefined : evm("channel_id_mismatch")) ??
    termsFault(config, requirements) ??
    voucherFault(config, channelId, voucher, terms.separator)
  if (fault !== undefined) return refuse(fault)
  const good = { network: terms.network, channelId, config, payload }
  if (payload.type !== "deposit") return Result.succeed(good)
  const authorized = depositOf({ payment, payload, channelId }, requirements, { ...terms, nowMs })
  if (Result.isFailure(authorized)) return refuse(authorized.failure)
  return Result.succeed({ ...good, deposit: { amount: payload.deposit.amount, authorization: authorized.success } })
}

// A deposit that ends sooner may not reach a block in time.
const marginSeconds = 6

/** The checks for one network, without a call to it. */
export const channelVerifier = (network: string, chainId: bigint) => {
  const separator = domainSeparator(channelsDomain(chainId))
  const permit2 = permitDomain(chainId)
  const terms: CheckTerms = { network, chainId, separator, domains: new DomainSeparators(), permit2, marginSeconds }
  return (payment: PaymentPayload, requirements: PaymentRequirements, nowMs: number) =>
    checkVoucher(payment, requirements, nowMs, terms)
}

const refusal = (text: string, payer: string | null, detail?: string) =>
  new PaymentRefused({ code: codeOf(text), reason: text, payer, ...(detail === undefined ? {} : { detail }) })

/** Whether the channel is payable to us, with the terms that we offer. */
const termsFault = (config: ChannelConfig, { payTo, asset, extra = {} }: PaymentRequirements): string | undefined => {
  const { receiverAuthorizer, withdrawDelay } = extra
  if (!isSameAddress(config.receiver, payTo)) return evm("receiver_mismatch")
  if (typeof receiverAuthorizer !== "string" || !isSameAddress(config.receiverAuthorizer, receiverAuthorizer)) {
    return evm("receiver_authorizer_mismatch")
  }
  if (!isSameAddress(config.token, asset)) return evm("token_mismatch")
  if (config.withdrawDelay !== withdrawDelay) return evm("withdraw_delay_mismatch")
  if (config.withdrawDelay < withdrawDelaySecondsMin || config.withdrawDelay > withdrawDelaySecondsMax) {
    return evm("withdraw_delay_out_of_range")
  }
  return undefined
}

const voucherFault = (
  { payerAuthorizer }: ChannelConfig,
  channelId: string,
  { maxClaimableAmount, signature }: ChannelPayload["voucher"],
  separator: Uint8Array
): string | undefined => {
  const digest = () => voucherDigest(separator, channelId, BigInt(maxClaimableAmount))
  const isGood = payerAuthorizer !== zeroAddress && isSignedBy(payerAuthorizer, signature, digest)
  return isGood ? undefined : evm("voucher_signature")
}

const isSignedBy = (address: string, signature: string, digest: () => Uint8Array): boolean => {
  const read = readSignature(signature)
  return Result.isSuccess(read) && recoverAddress(digest(), read.success) === address.toLowerCase()
}

interface DepositInput {
  readonly payment: PaymentPayload
  readonly payload: Extract<ChannelPayload, { readonly type: "deposit" }>
  readonly channelId: string
}

/** The deposit's authorization, in the form that the offer asks for; or its fault. */
const depositOf = (
  given: DepositInput,
  requirements: PaymentRequirements,
  terms: CheckTerms & { readonly nowMs: number }
): Result.Result<DepositAuthorization, string> => {
  const { authorization } = given.payload.deposit
  if (requirements.extra?.["assetTransferMethod"] === "permit2") {
    if (!("permit2Authorization" in authorization)) return Result.fail(evm("permit2_authorization_required"))
    return permit2DepositOf(given, authorization.permit2Authorization, terms)
  }
  if (!("erc3009Authorization" in authorization)) return Result.fail(evm("erc3009_authorization_required"))
  const fault = erc3009Fault(given, authorization.erc3009Authorization, { ...terms, requirements })
  return fault === undefined ? Result.succeed(authorization.erc3009Authorization) : Result.fail(fault)
}

type Authorizations = DepositInput["payload"]["deposit"]["authorization"]

const erc3009Fault = (
  { payload: { channelConfig, deposit }, channelId }: DepositInput,
  {
    validAfter,
    validBefore,
    salt,
    signature
  }: Extract<Authorizations, { readonly erc3009Authorization: unknown }>["erc3009Authorization"],
  terms: CheckTerms & { readonly nowMs: number; readonly requirements: PaymentRequirements }
): string | undefined => {
  const { chainId, domains, marginSeconds, nowMs } = terms
  const { payer, token } = channelConfig
  const { name, version } = terms.requirements.extra ?? {}
  if (typeof name !== "string" || typeof version !== "string") return evm("missing_eip712_domain")
  const nowSeconds = BigInt(Math.floor(nowMs / 1_000))
  if (BigInt(validBefore) < nowSeconds + BigInt(marginSeconds)) return evm("payload_authorization_valid_before")
  if (BigInt(validAfter) > nowSeconds) return evm("payload_authorization_valid_after")
  const authorization = {
    from: payer,
    to: depositCollectorAddress,
    value: BigInt(deposit.amount),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: depositNonce(channelId, salt)
  }
  const separator = domains.of({ name, version, chainId, asset: token })
  const isGood = isSignedBy(payer, signature, () => receiveDigest(separator, authorization))
  return isGood ? undefined : evm("receive_authorization_signature")
}

const permit2DepositOf = (
  { payment, payload, channelId }: DepositInput,
  permit: Extract<Authorizations, { readonly permit2Authorization: unknown }>["permit2Authorization"],
  { permit2, marginSeconds, nowMs }: CheckTerms & { readonly nowMs: number }
): Result.Result<DepositAuthorization, string> => {
  const { payer, token } = payload.channelConfig
  const { from, permitted, spender, nonce, deadline, witness, signature } = permit
  const amount = BigInt(payload.deposit.amount)
  if (!isSameAddress(from, payer)) return Result.fail(evm("permit2_invalid_signature"))
  if (!isSameAddress(spender, permit2CollectorAddress)) return Result.fail(evm("permit2_invalid_spender"))
  if (!isSameAddress(permitted.token, token)) return Result.fail(evm("token_mismatch"))
  if (BigInt(permitted.amount) !== amount) return Result.fail(evm("permit2_amount_mismatch"))
  if (witness.channelId.toLowerCase() !== channelId) return Result.fail(evm("channel_id_mismatch"))
  const soonest = BigInt(Math.floor(nowMs / 1_000) + marginSeconds)
  if (BigInt(deadline) < soonest) return Result.fail(evm("permit2_deadline_expired"))
  const transfer = { channelId, token, amount, nonce: BigInt(nonce), deadline: BigInt(deadline) }
  if (!isSignedBy(payer, signature, () => permit2DepositDigest(permit2, transfer))) {
    return Result.fail(evm("permit2_invalid_signature"))
  }
  const approval = approvalOf(payment, { from: payer, token, amount }, nowMs, marginSeconds)
  if (Result.isFailure(approval)) {
    const { failure } = approval
    return Result.fail(failure === "permit2_2612_amount_mismatch" ? evm("eip2612_amount_mismatch") : failure)
  }
  return Result.succeed({
    nonce: transfer.nonce.toString(),
    deadline,
    signature: plainSignature(signature),
    approval: approval.success && {
      deadline: approval.success.deadline.toString(),
      signature: hexOf(approval.success.signature)
    }
  })
}

/** A signature as contracts take it: some libraries write its last byte as 0 or 1. */
export const plainSignature = (signature: string): string => {
  const read = readSignature(signature)
  if (Result.isFailure(read)) return signature
  return hexOf(signatureBytes(read.success))
}

/** A deposit's authorization in the form of the contract's call. */
export const signedDeposit = (given: DepositAuthorization): Erc3009Deposit | Permit2Deposit => {
  if ("salt" in given) {
    return { ...given, validAfter: BigInt(given.validAfter), validBefore: BigInt(given.validBefore) }
  }
  const { nonce, deadline, signature, approval } = given
  return {
    nonce: BigInt(nonce),
    deadline: BigInt(deadline),
    signature,
    approval: approval && {
      deadline: BigInt(approval.deadline),
      signature: bytesOf(approval.signature)
    }
  }
}
