/**
 * What a payer by channel signs: a voucher over a total, and a deposit if the channel's balance is too low. Pure. The
 * tests judge it by the protocol's own client.
 */
import { randomBytes } from "node:crypto"
import type { PaymentPayload, PaymentRequirements } from "#payments/contract"
import {
  type ChannelConfig,
  channelIdOf,
  channelsDomain,
  depositCollectorAddress,
  depositNonce,
  permit2CollectorAddress,
  permit2DepositDigest,
  voucherDigest
} from "../chains/evm/channels/contract.ts"
import { permitDomain } from "../chains/evm/permit2.ts"
import { domainSeparator, receiveDigest, signatureBytes, signDigest } from "../chains/evm/signature.ts"
import { checksummed, hexOf } from "../chains/evm/encoding.ts"
import { chainIdOf } from "../chains/evm/settings.ts"

export interface ChannelSigner {
  readonly address: string
  /** 32 bytes that are a key of the curve. */
  readonly key: Uint8Array
  /** Tells channels of the same parties apart; 32 bytes in hex. */
  readonly salt: string
}

interface ChannelPayment {
  /** The total that may be claimed from the channel. */
  readonly maxClaimable: bigint
  /** Deposited into the channel first; zero means no deposit. */
  readonly deposit: bigint
  /** Unix seconds. */
  readonly nowSeconds: number
}

/** A payer's channel on the terms of an offer. */
export const channelConfigOf = (
  { address, salt }: Pick<ChannelSigner, "address" | "salt">,
  { payTo, asset, extra = {} }: PaymentRequirements
): ChannelConfig => ({
  payer: checksummed(address),
  payerAuthorizer: checksummed(address),
  receiver: payTo,
  receiverAuthorizer: String(extra["receiverAuthorizer"]),
  token: asset,
  withdrawDelay: Number(extra["withdrawDelay"]),
  salt
})

export const channelIdFor = (signer: Pick<ChannelSigner, "address" | "salt">, offer: PaymentRequirements): string =>
  channelIdOf(separatorOf(offer), channelConfigOf(signer, offer))

export const channelPaymentOf = (
  signer: ChannelSigner,
  offer: PaymentRequirements,
  { maxClaimable, deposit, nowSeconds }: ChannelPayment
): PaymentPayload => {
  const payload = vouched(signer, offer, maxClaimable)
  return {
    x402Version: 2,
    accepted: offer,
    payload:
      deposit === 0n
        ? { type: "voucher", ...payload }
        : { type: "deposit", ...payload, deposit: signedDeposit(signer, offer, { amount: deposit, nowSeconds }) }
  }
}

/** A refund of an amount, or of all that is left; `charged`: the total charged to the channel. */
export const channelRefundOf = (
  signer: ChannelSigner,
  offer: PaymentRequirements,
  { charged, amount }: { readonly charged: bigint; readonly amount: bigint | null }
): PaymentPayload => ({
  x402Version: 2,
  accepted: offer,
  payload: {
    type: "refund",
    ...vouched(signer, offer, charged),
    ...(amount === null ? {} : { amount: amount.toString() })
  }
})

const separators = new Map<string, Uint8Array>()
const separatorOf = ({ network }: PaymentRequirements): Uint8Array => {
  const known = separators.get(network) ?? domainSeparator(channelsDomain(chainIdOf(network)))
  separators.set(network, known)
  return known
}

const vouched = (signer: ChannelSigner, offer: PaymentRequirements, maxClaimable: bigint) => {
  const channelConfig = channelConfigOf(signer, offer)
  const separator = separatorOf(offer)
  const channelId = channelIdOf(separator, channelConfig)
  const signature = hexOf(signatureBytes(signDigest(voucherDigest(separator, channelId, maxClaimable), signer.key)))
  return { channelConfig, voucher: { channelId, maxClaimableAmount: maxClaimable.toString(), signature } }
}

// As long before now as the protocol's own client signs, to allow for clock differences.
const earlySeconds = 600

interface DepositTerms {
  readonly amount: bigint
  readonly nowSeconds: number
}

/** In the form that the offer asks for. */
const signedDeposit = (signer: ChannelSigner, offer: PaymentRequirements, terms: DepositTerms) => ({
  amount: terms.amount.toString(),
  authorization: isPermit2Deposit(offer) ? byPermit2(signer, offer, terms) : byToken(signer, offer, terms)
})

export const isPermit2Deposit = ({ extra }: PaymentRequirements) => extra?.["assetTransferMethod"] === "permit2"

const byPermit2 = (signer: ChannelSigner, offer: PaymentRequirements, { amount, nowSeconds }: DepositTerms) => {
  const { asset: token, network, maxTimeoutSeconds } = offer
  const channelId = channelIdFor(signer, offer)
  const nonce = BigInt(hexOf(randomBytes(32)))
  const deadline = BigInt(nowSeconds + maxTimeoutSeconds)
  const digest = permit2DepositDigest(permitDomain(chainIdOf(network)), { channelId, token, amount, nonce, deadline })
  const permit2Authorization = {
    from: checksummed(signer.address),
    permitted: { token, amount: amount.toString() },
    spender: permit2CollectorAddress,
    nonce: nonce.toString(),
    deadline: deadline.toString(),
    witness: { channelId },
    signature: hexOf(signatureBytes(signDigest(digest, signer.key)))
  }
  return { permit2Authorization }
}

const byToken = (signer: ChannelSigner, offer: PaymentRequirements, { amount, nowSeconds }: DepositTerms) => {
  const salt = hexOf(randomBytes(32))
  const { asset, network, extra = {}, maxTimeoutSeconds } = offer
  const [validAfter, validBefore] = [nowSeconds - earlySeconds, nowSeconds + maxTimeoutSeconds]
  const domain = {
    name: String(extra["name"]),
    version: String(extra["version"]),
    chainId: chainIdOf(network),
    asset
  }
  const digest = receiveDigest(domainSeparator(domain), {
    from: signer.address,
    to: depositCollectorAddress,
    value: amount,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: depositNonce(channelIdFor(signer, offer), salt)
  })
  const signature = hexOf(signatureBytes(signDigest(digest, signer.key)))
  const signed = { validAfter: String(validAfter), validBefore: String(validBefore), salt, signature }
  return { erc3009Authorization: signed }
}
