/**
 * Receipts of what channels are charged: one for each call, as for any other payment. A charge is kept in its channel's
 * record until its receipt is known to be written. Pure.
 */
import { channelScheme, claimKeyOf, type Receipt } from "#contracts"
import type { Channel, OwedReceipt } from "./channel.ts"

/** By which the broker knows a receipt that is written twice. */
export const receiptIdOf = (ticket: string) => `receipt-${ticket}`

/** Its transaction is none of its own: what was charged is claimed later, and with others. */
export const chargeReceipt = ({ network, config }: Pick<Channel, "network" | "config">, owed: OwedReceipt): Receipt => {
  const { payer, token, receiver } = config
  const { ticket, amount, ceiling, model, providerCost, beganAtMs, chargedAtMs } = owed
  return {
    claimKey: claimKeyOf({ network, asset: token, payer, nonce: ticket }),
    network,
    asset: token,
    payer,
    payTo: receiver,
    amount,
    scheme: channelScheme,
    ...(ceiling === amount ? {} : { ceiling }),
    outcome: "settled",
    transaction: null,
    reason: null,
    ...(model === null ? {} : { model }),
    ...(providerCost === undefined ? {} : { providerCost }),
    requestedAtMs: beganAtMs,
    settledAtMs: chargedAtMs
  }
}
