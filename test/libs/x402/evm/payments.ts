/** Payers and their payments for the tests of EVM chains, signed by a wallet library and not by our own code. */
import { randomBytes } from "node:crypto"
import type { PaymentPayload, PaymentRequirements } from "#contracts"
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from "viem/accounts"
import { asset } from "./terms.ts"

export { asset, network, payTo, requirementsOf } from "./terms.ts"

export interface Signed {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

export interface Domain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: `0x${string}`
}

export const domain: Domain = { name: "USDC", version: "2", chainId: 84_532, verifyingContract: asset }

export const newPayer = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey())
export const payerOf = (key: `0x${string}`): PrivateKeyAccount => privateKeyToAccount(key)
export const newNonce = (): `0x${string}` => `0x${randomBytes(32).toString("hex")}`

/** What a wallet is told to sign. */
export const transferTypes = {
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

const cancelTypes = {
  CancelAuthorization: [
    { name: "authorizer", type: "address" },
    { name: "nonce", type: "bytes32" }
  ]
} as const

export interface SigningOptions {
  readonly nowSeconds: number
  /** What is signed and sent, where it is not what is asked for. */
  readonly signed?: Partial<Signed>
  readonly domain?: Partial<Domain>
}

/** As a client pays: the authorization is for what the requirements ask for, and signed. */
export const payment = async (
  payer: PrivateKeyAccount,
  requirements: PaymentRequirements,
  { nowSeconds, signed = {}, domain: changes = {} }: SigningOptions
): Promise<PaymentPayload> => {
  const authorization: Signed = {
    from: payer.address,
    to: requirements.payTo,
    value: requirements.amount,
    validAfter: String(nowSeconds - 600),
    validBefore: String(nowSeconds + requirements.maxTimeoutSeconds),
    nonce: newNonce(),
    ...signed
  }
  const signature = await payer.signTypedData({
    domain: { ...domain, ...changes },
    types: transferTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      from: authorization.from.toLowerCase() as `0x${string}`,
      to: authorization.to.toLowerCase() as `0x${string}`,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
      nonce: authorization.nonce as `0x${string}`
    }
  })
  return { x402Version: 2, accepted: requirements, payload: { signature, authorization } }
}

export const signedOf = (payload: PaymentPayload) =>
  payload.payload as { readonly signature: `0x${string}`; readonly authorization: Signed }

/** The payload with another signature or other fields than were signed. */
export const forged = (
  payload: PaymentPayload,
  changes: { readonly signature?: string; readonly authorization?: Partial<Signed> }
): PaymentPayload => {
  const { signature, authorization } = signedOf(payload)
  return {
    ...payload,
    payload: {
      signature: changes.signature ?? signature,
      authorization: { ...authorization, ...changes.authorization }
    }
  }
}

/** The payer's signature under the withdrawal of an authorization. */
export const cancellation = (payer: PrivateKeyAccount, nonce: string) =>
  payer.signTypedData({
    domain,
    types: cancelTypes,
    primaryType: "CancelAuthorization",
    message: { authorizer: payer.address, nonce: nonce as `0x${string}` }
  })
