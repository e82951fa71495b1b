/**
 * The payer as stated by a payment itself, read from whatever was sent as one: a refusal names it, so that a caller
 * with many wallets knows which one is meant. It is not trusted. Pure.
 */
import { decodeTransaction, decodeWire } from "./chains/solana/transaction.ts"
import { statedAuthority } from "./chains/solana/instructions.ts"

const evmAddress = /^0x[0-9a-fA-F]{40}$/u

/** `payment`: the JSON of a payment, of any shape. Null if it names no payer. */
export const statedPayer = (payment: unknown): string | null => {
  const payload = memberOf(payment, "payload")
  const named = [
    memberOf(memberOf(payload, "authorization"), "from"),
    memberOf(memberOf(payload, "permit2Authorization"), "from"),
    memberOf(memberOf(payload, "channelConfig"), "payer")
  ]
  const address = named.find((each) => typeof each === "string" && evmAddress.test(each))
  return typeof address === "string" ? address : authorityOf(memberOf(payload, "transaction"))
}

const memberOf = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined

const authorityOf = (transaction: unknown) => {
  const wire = typeof transaction === "string" ? decodeWire(transaction) : undefined
  const decoded = wire && decodeTransaction(wire)
  return (decoded && statedAuthority(decoded)) ?? null
}
