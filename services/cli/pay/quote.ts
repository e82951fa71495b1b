/**
 * Reads a quote as somebody who is careful with money does: what a 402 asks for is signed only where it is the
 * dollar token of the chain that was meant, at a price that was allowed. Pure.
 */
import { Result, Schema } from "effect"
import { PaymentRequired, type PaymentRequirements } from "#contracts"
import type { PayOrder } from "./order.ts"

export interface PayQuote {
  readonly requirements: PaymentRequirements
  readonly quote: PaymentRequired
  /** Millionths of a dollar: the token has six decimals. */
  readonly microUsd: bigint
}

/** Where the dollar token is. A token that merely says that it is worth a dollar is not signed for. */
const dollars: Readonly<Record<string, string>> = {
  "eip155:8453": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
  "eip155:84532": "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
}

const decode = Schema.decodeUnknownResult(Schema.fromJsonString(PaymentRequired))

/** Why it is not signed, or the quote. `header`: of PAYMENT-REQUIRED. */
export const readQuote = (header: string | null, order: Pick<PayOrder, "chain" | "microUsdMax">) => {
  if (header === null) return Result.fail("the gateway asks for a payment and does not say which")
  const read = decode(Buffer.from(header, "base64").toString("utf8"))
  if (Result.isFailure(read)) return Result.fail(`the quote cannot be read: ${read.failure.message}`)
  const [requirements] = read.success.accepts
  if (requirements === undefined) return Result.fail("the quote offers no way to pay")
  const { network, asset, amount } = requirements
  const family = order.chain === "evm" ? "eip155:" : "solana:"
  if (!network.startsWith(family)) return Result.fail(`the quote is for ${network}, which is not ${order.chain}`)
  const dollar = dollars[network]
  const isDollar = order.chain === "evm" ? asset.toLowerCase() === dollar?.toLowerCase() : asset === dollar
  if (!isDollar)
    return Result.fail(`the quote is for the token ${asset} on ${network}, which is no dollar that is known`)
  const microUsd = BigInt(amount)
  if (microUsd > order.microUsdMax) {
    const price = `the quote is ${usdText(microUsd)} USD`
    return Result.fail(`${price}, more than the ${usdText(order.microUsdMax)} of --max-usd; nothing was paid`)
  }
  return Result.succeed({ requirements, quote: read.success, microUsd } satisfies PayQuote)
}

/** Millionths as dollars: `0.025685`. */
export const usdText = (micro: bigint): string => {
  const digits = (micro < 0n ? -micro : micro).toString().padStart(7, "0")
  return `${micro < 0n ? "-" : ""}${digits.slice(0, -6)}.${digits.slice(-6)}`
}
