/** What an answer that was paid for says of its payment: the receipt, or that the chain has not spoken yet. Pure. */
import type { SettleResponse } from "#contracts"

/** What a page's script may read of our answers. */
export const exposedHeaders =
  "PAYMENT-REQUIRED, X-Payment-Required, WWW-Authenticate, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Payment-Receipt, X-Payment-Settled, X-Error-Code"

/** How the chain answered, under the names of both protocol versions. */
export const settleResponseHeader = (response: SettleResponse): Readonly<Record<string, string>> => {
  const header = Buffer.from(JSON.stringify(response)).toString("base64")
  return { "payment-response": header, "x-payment-response": header }
}

export interface SettledPayment {
  readonly transaction: string
  readonly network: string
  readonly payer: string
}

/** Of an answer that is paid. Nobody between us and the payer may keep it for another. */
export const settledHeaders = ({ transaction, network, payer }: SettledPayment): Readonly<Record<string, string>> => ({
  ...settleResponseHeader({ success: true, transaction, network, payer }),
  "x-payment-receipt": transaction,
  "cache-control": "private",
  "access-control-expose-headers": exposedHeaders
})

/** Of an answer that is given out although the chain has not said yet that it is paid. */
export const unsettledHeaders = (errorClass: string): Readonly<Record<string, string>> => ({
  "x-payment-settled": "false",
  "x-payment-settle-error-class": errorClass.replace(/[^A-Za-z0-9_.-]/gu, "_").slice(0, 64),
  "cache-control": "private",
  "access-control-expose-headers": exposedHeaders
})
