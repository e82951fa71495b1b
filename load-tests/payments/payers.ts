/** Payers with money, and payments that they have signed before the clock starts: what is measured is the taking. */
import { randomBytes } from "node:crypto"
import { Effect } from "effect"
import type { PaymentRequired } from "#payments/contract"
import { signAuthorization } from "#payments"
import { type LocalAccount, localAccount, type LocalChain } from "#dev/chain"

const units = 1_000_000_000_000n

/** Callers are many: with one payer alone all payments would queue for one record. */
export const fundedPayers = async ({ fund }: LocalChain, count: number): Promise<ReadonlyArray<LocalAccount>> => {
  const payers = Array.from({ length: count }, (_, index) => localAccount("load", `payer ${index}`))
  await Effect.runPromise(Effect.forEach(payers, ({ address }) => fund(address, units), { discard: true }))
  return payers
}

export interface SignedCall {
  /** The value of PAYMENT-SIGNATURE. */
  readonly header: string
  /** 64 hex digits. */
  readonly nonce: string
}

export const signCall = ({ address, privateKey }: LocalAccount, { resource, accepts }: PaymentRequired): SignedCall => {
  const [accepted] = accepts
  if (accepted === undefined) throw new Error("the quote offers nothing")
  const now = Math.floor(Date.now() / 1_000)
  const nonce = randomBytes(32).toString("hex")
  const [validAfter, validBefore] = [now - 600, now + accepted.maxTimeoutSeconds]
  const terms = {
    from: address,
    to: accepted.payTo,
    value: BigInt(accepted.amount),
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce: `0x${nonce}`
  }
  const domain = { name: "USDC", version: "2", chainId: 84_532n, asset: accepted.asset }
  const signature = signAuthorization(Buffer.from(privateKey.slice(2), "hex"), domain, terms)
  const authorization = {
    ...terms,
    value: accepted.amount,
    validAfter: String(validAfter),
    validBefore: String(validBefore)
  }
  const payload = { x402Version: 2, resource, accepted, payload: { signature, authorization } }
  return { header: Buffer.from(JSON.stringify(payload)).toString("base64"), nonce }
}
