/** Receipts and claims for tests of who reads them. */
import { Effect } from "effect"
import { Publisher } from "#bus"
import { addressToken, claimKeyOf, type Receipt } from "#payments/contract"
import { subjects } from "#base"
import { receiptCodec } from "#payments"
import { hex32, testNetwork } from "./payments.ts"

export const moneySettings = { Payments: { Networks: [{ ...testNetwork, SettlerKeyEnvVars: [] }] } }

export const payerNamed = (name: string) => hex32(`payer ${name}`).slice(0, 42)

/** The receipt of a payment that was collected; the same name is the same payment. */
export const receiptOf = (name: string, changes: Partial<Receipt> = {}): Receipt => {
  const payer = changes.payer ?? payerNamed("alice")
  return {
    claimKey: claimKeyOf({ network: testNetwork.Network, asset: testNetwork.Asset, payer, nonce: hex32(name) }),
    network: testNetwork.Network,
    asset: testNetwork.Asset,
    payer,
    payTo: testNetwork.PayTo,
    amount: "1000",
    outcome: "settled",
    transaction: hex32(`transaction ${name}`),
    reason: null,
    model: "demo/echo",
    requestedAtMs: Date.now() - 1_000,
    settledAtMs: Date.now(),
    ...changes
  }
}

/** Puts a receipt into RECEIPTS, as the settler does. */
export const storeReceipt = (receipt: Receipt) =>
  Effect.flatMap(Publisher, (publisher) =>
    publisher.publish(
      subjects.receipts(receipt.network, addressToken(receipt.network, receipt.payer)),
      receiptCodec,
      receipt
    )
  )
