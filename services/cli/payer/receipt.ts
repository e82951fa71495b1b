/** What a paid answer says of its payment: the receipt in its headers, or in a comment of its stream. Pure. */
import type { PaymentRequirements, SettleResponse } from "#contracts"
import { receiptIn, receiptPattern } from "../pay/gateway.ts"

// Longer than any receipt.
const lineCharactersMax = 16_384

/** Finds the receipt in a stream's bytes, which come in pieces of any size. */
export const receiptReader = () => {
  const utf8 = new TextDecoder()
  let rest = ""
  return (bytes: Uint8Array): SettleResponse | undefined => {
    const lines = (rest + utf8.decode(bytes, { stream: true })).split("\n")
    // Of a long line the beginning says that it is none.
    rest = (lines.pop() ?? "").slice(0, lineCharactersMax)
    const header = lines.map((line) => receiptPattern.exec(line)?.[1]).find((found) => found !== undefined)
    return receiptIn(header)
  }
}

/** What was charged for a payment; undefined where the receipt does not say that it was. */
export const chargedBy = (
  receipt: SettleResponse | undefined,
  { scheme, amount }: Pick<PaymentRequirements, "scheme" | "amount">
): bigint | undefined => {
  if (receipt?.success !== true) return undefined
  const signed = BigInt(amount)
  if (scheme === "exact" || receipt.amount === undefined || receipt.amount === "") return signed
  const charged = BigInt(receipt.amount)
  return charged < signed ? charged : signed
}
