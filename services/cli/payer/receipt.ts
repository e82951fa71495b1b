/** A paid answer's record of its payment: the receipt in its headers, or in a comment of its stream. Pure. */
import type { PaymentRequirements, SettleResponse } from "#payments/contract"
import { receiptIn, receiptPattern } from "../pay/gateway.ts"

// Longer than any receipt.
const lineCharactersMax = 16_384

// The last event of each dialect that sends its receipt after it.
const lastEvent = /^event: ?(?:message_stop|response\.(?:completed|incomplete|failed))$/u

/** Finds the receipt in a stream's bytes, which arrive in chunks of any size. */
export const receiptReader = () => {
  const utf8 = new TextDecoder()
  const seen = { rest: "", hasLast: false, hasReceipt: false }
  return {
    read: (bytes: Uint8Array): SettleResponse | undefined => {
      const lines = (seen.rest + utf8.decode(bytes, { stream: true })).split("\n")
      // The beginning of a long line shows that it is not one.
      seen.rest = (lines.pop() ?? "").slice(0, lineCharactersMax)
      seen.hasLast ||= lines.some((line) => lastEvent.test(line))
      const header = lines.map((line) => receiptPattern.exec(line)?.[1]).find((found) => found !== undefined)
      seen.hasReceipt ||= header !== undefined
      return receiptIn(header)
    },
    /** The answer is complete except for its receipt. */
    isDue: () => seen.hasLast && !seen.hasReceipt
  }
}

/** The charge for a payment; undefined if the receipt does not confirm one. */
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
