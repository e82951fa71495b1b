/**
 * The local checks of a payment by channel: its form, that its channel is one to us with the terms of the offer, and
 * the signatures of its voucher and its deposit. Pure. A voucher must be signed by a key: one that only a contract
 * wallet can confirm is refused, for what such a wallet says may change before the voucher is claimed.
 */
import { Result, Schema } from "effect"
import {
  type ChannelConfig,
  ChannelPayload,
  type PaymentPayload,
  type PaymentRequirements,
  withdrawDelaySecondsMax,
  withdrawDelaySecondsMin
} from "#contracts"
import { codeOf, PaymentRefused, reason as paymentReason } from "../../../errors.ts"
import { hexOf, isSameAddress } from "../encoding.ts"
import {
  domainSeparator,
  DomainSeparators,
  readSignature,
  receiveDigest,
  recoverAddress,
  signatureBytes
} from "../signature.ts"
import { channelIdOf, channelsDomain, depositCollectorAddress, depositNonce, voucherDigest } from "./contract.ts"

const zeroAddress = `0x${"0".repeat(40)}`

/** A payment whose fields and signatures are good; whether its channel takes it is not yet known. */
export interface CheckedVoucher {
  readonly network: string
  readonly channelId: string
  readonly config: ChannelConfig
  readonly payload: ChannelPayload
}

interface CheckTerms {
  readonly network: string
  readonly chainId: bigint
  /** The hash of the channel contract's domain. */
  readonly separator: Uint8Array
  readonly domains: DomainSeparators
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
  const fault =
    (channelId === voucher.channelId.toLowerCase() ? undefined : evm("channel_id_mismatch")) ??
    termsFault(config, requirements) ??
    voucherFault(config, channelId, voucher, terms.separator) ??
    (payload.type === "deposit" ? depositFault(payload, channelId, requirements, { ...terms, nowMs }) : undefined)
  if (fault !== undefined) return Result.fail(refusal(fault, payer))
  return Result.succeed({ network: terms.network, channelId, config, payload })
}

// A deposit that ends sooner may not reach a block in time.
const marginSeconds = 6

/** The checks for one network, without a call to it. */
export const channelVerifier = (network: string, chainId: bigint) => {
  const separator = domainSeparator(channelsDomain(chainId))
  const terms: CheckTerms = { network, chainId, separator, domains: new DomainSeparators(), marginSeconds }
  return (payment: PaymentPayload, requirements: PaymentRequirements, nowMs: number) =>
    checkVoucher(payment, requirements, nowMs, terms)
}

const refusal = (text: string, payer: string | null, detail?: string) =>
  new PaymentRefused({ code: codeOf(text), reason: text, payer, ...(detail === undefined ? {} : { detail }) })

/** Whether the channel is one to us, with the terms that we offer. */
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

const depositFault = (
  { channelConfig: { payer, token }, deposit }: Extract<ChannelPayload, { readonly type: "deposit" }>,
  channelId: string,
  { extra = {} }: PaymentRequirements,
  { chainId, domains, marginSeconds, nowMs }: CheckTerms & { readonly nowMs: number }
): string | undefined => {
  const { name, version } = extra
  if (typeof name !== "string" || typeof version !== "string") return evm("missing_eip712_domain")
  const { validAfter, validBefore, salt, signature } = deposit.authorization.erc3009Authorization
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

/** A signature as contracts take it: libraries may write its last byte as 0 or 1. */
export const plainSignature = (signature: string): string => {
  const read = readSignature(signature)
  if (Result.isFailure(read)) return signature
  return hexOf(signatureBytes(read.success))
}
