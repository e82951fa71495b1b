/** A caller who does not mean to pay: takes quotes, signs, and then breaks a payer's rules. */
import { randomBytes } from "node:crypto"
import { Effect, Schema } from "effect"
import { encodeFunctionData } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { PaymentPayload } from "#payments/contract"
import type { LocalChain } from "../../dev/chain/evm/LocalEvmChain.ts"
import { transferCall } from "../../dev/fixtures/evm/token-calls.ts"
import { cancellation } from "../../dev/fixtures/evm/payments.ts"
import { ask, type GatewayAnswer } from "./gateway.ts"
import { quoteOf, signPayment, type SigningOptions } from "./payment-client.ts"

export const path = "/api/v1/chat/completions"

export interface Target {
  readonly url: string
  readonly chain: LocalChain
}

export type Key = `0x${string}`

export const newKey = (): Key => `0x${randomBytes(32).toString("hex")}`

/** A key whose account has this amount, in the smallest unit. */
export const fundedKey = Effect.fnUntraced(function* ({ chain }: Target, units = 1_000_000n) {
  const key = newKey()
  yield* chain.fund(privateKeyToAccount(key).address, units)
  return key
})

export const offerFor = ({ url }: Target, body: unknown, at = path) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${url}${at}`, { method: "POST", headers, body: JSON.stringify(body) })
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("nothing is offered")
    return offer
  })

/** The value of PAYMENT-SIGNATURE for a call. */
export const signFor = Effect.fnUntraced(function* (target: Target, body: unknown, key: Key, options?: SigningOptions) {
  const offer = yield* offerFor(target, body)
  return yield* Effect.promise(() => signPayment(key, offer, options))
})

export const payWith = (target: Target, body: unknown, payment: string, at = path): Effect.Effect<GatewayAnswer> =>
  ask(target, at, body, { "payment-signature": payment })

const decodePayload = Schema.decodeUnknownSync(Schema.fromJsonString(PaymentPayload))

export interface Terms {
  readonly signature: Key
  readonly authorization: Readonly<Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>>
}

export const payloadIn = (payment: string) => decodePayload(Buffer.from(payment, "base64").toString("utf8"))
export const termsIn = (payment: string) => payloadIn(payment).payload as unknown as Terms
export const written = (payload: unknown) => Buffer.from(JSON.stringify(payload)).toString("base64")

/** The payment with other terms than were signed, or another signature. */
export const altered = (
  payment: string,
  changes: Partial<Terms["authorization"]> & { readonly signature?: string }
) => {
  const payload = payloadIn(payment)
  const { authorization, signature } = termsIn(payment)
  const { signature: other = signature, ...terms } = changes
  return written({ ...payload, payload: { signature: other, authorization: { ...authorization, ...terms } } })
}

const stranger = "0x000000000000000000000000000000000000dEaD"

/** Anybody with coin for the fee may send another's signed payment. */
const send = Effect.fnUntraced(function* ({ chain }: Target, from: string, to: string, data: string) {
  yield* chain.rpc("anvil_impersonateAccount", [from])
  yield* chain.rpc("anvil_setBalance", [from, "0xde0b6b3a7640000"])
  const hash = yield* chain.rpc("eth_sendTransaction", [{ from, to, data, gas: "0x30d40" }])
  yield* chain.rpc("evm_mine", [])
  return String(hash)
})

/** The payer takes an authorization back. */
export const cancelOnChain = Effect.fnUntraced(function* (target: Target, key: Key, payment: string) {
  const { from, nonce } = termsIn(payment).authorization
  const signature = yield* Effect.promise(() => cancellation(privateKeyToAccount(key), nonce))
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)]
  const data = encodeFunctionData({
    abi: [cancel],
    functionName: "cancelAuthorization",
    args: [from as Key, nonce as Key, v, r as Key, s as Key]
  })
  yield* send(target, stranger, target.chain.asset, data)
})

/** The payer's money goes elsewhere. */
export const emptyWallet = Effect.fnUntraced(function* (target: Target, key: Key, units: bigint) {
  const { address } = privateKeyToAccount(key)
  yield* send(target, address, target.chain.asset, transferCall("0x00000000000000000000000000000000000000AA", units))
})

/** A third party who has seen the payment submits it; the transaction's hash. */
export const submitOnChain = Effect.fnUntraced(function* (target: Target, payment: string) {
  const { authorization, signature } = termsIn(payment)
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const [r, s, v] = [signature.slice(0, 66), `0x${signature.slice(66, 130)}`, Number(`0x${signature.slice(130)}`)]
  const terms = [from as Key, to as Key, BigInt(value), BigInt(validAfter), BigInt(validBefore), nonce as Key] as const
  const data = encodeFunctionData({
    abi: [transfer],
    functionName: "transferWithAuthorization",
    args: [...terms, v, r as Key, s as Key]
  })
  return yield* send(target, stranger, target.chain.asset, data)
})

const signatureInputs = [
  { type: "uint8", name: "v" },
  { type: "bytes32", name: "r" },
  { type: "bytes32", name: "s" }
] as const
const cancel = {
  type: "function",
  name: "cancelAuthorization",
  stateMutability: "nonpayable",
  outputs: [],
  inputs: [{ type: "address", name: "authorizer" }, { type: "bytes32", name: "nonce" }, ...signatureInputs]
} as const
const transfer = {
  type: "function",
  name: "transferWithAuthorization",
  stateMutability: "nonpayable",
  outputs: [],
  inputs: [
    { type: "address", name: "from" },
    { type: "address", name: "to" },
    { type: "uint256", name: "value" },
    { type: "uint256", name: "validAfter" },
    { type: "uint256", name: "validBefore" },
    { type: "bytes32", name: "nonce" },
    ...signatureInputs
  ]
} as const
