/** The metrics of payment-settler: settlements, keys, and reconciliation. Amounts are in the asset's smallest unit. */
import { findingKinds } from "#payments/contract"
import { defineCounter, defineGauge, defineHistogram } from "#runtime"

export const settlementTries = defineCounter({
  name: "payment_settlement_tries_total",
  help: "Tries to settle a payment, by network and what came of it: settled, withheld, uncollected, or later.",
  labels: ["network", "outcome"],
  values: { outcome: ["settled", "withheld", "uncollected", "later"] }
})

export const settlementSeconds = defineHistogram({
  name: "payment_settlement_seconds",
  help: "From the request for a settlement to its receipt, by network.",
  labels: ["network"],
  buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900]
})

export const keysHeld = defineGauge({
  name: "payment_settler_keys_held",
  help: "Settlers' keys that this process may sign with now, by network.",
  labels: ["network"]
})

export const transactionsLeft = defineGauge({
  name: "payment_settler_transactions_left",
  help: "Transfers whose fees a settler's key can still pay at the chain's present prices, by network and the key's address; 10000 where it is more.",
  labels: ["network", "key"]
})

export const signatures = defineCounter({
  name: "payment_signatures_total",
  help: "What settlers' keys were asked to sign, by network, by where the key is (environment, keystore, or a remote signer), and whether a good signature came back.",
  labels: ["network", "signer", "outcome"],
  values: { signer: ["environment", "keystore", "remote"], outcome: ["signed", "failed"] }
})

export const signatureSeconds = defineHistogram({
  name: "payment_signature_seconds",
  help: "How long a signature took, with all tries, by where the key is.",
  labels: ["signer"],
  buckets: [0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

export const gapsFilled = defineCounter({
  name: "payment_nonce_gaps_filled_total",
  help: "Empty transactions sent because later ones waited for their nonces, by network.",
  labels: ["network"]
})

export const findings = defineCounter({
  name: "payment_book_findings_total",
  help: "Differences between chain, claims, channels and receipts, by network and kind of finding; each is counted once.",
  labels: ["network", "finding"],
  values: {
    finding: findingKinds
  }
})

export const openFindings = defineGauge({
  name: "payment_book_findings_standing",
  help: "Findings in the books that have not ended, by network and kind; shown by the settler that compares.",
  labels: ["network", "finding"]
})

export const transferredUnits = defineCounter({
  name: "payment_books_transferred_units_total",
  help: "Transfers to our accounts that the reconciliation has read on the chain, by network.",
  labels: ["network"]
})

export const receiptedUnits = defineCounter({
  name: "payment_books_receipted_units_total",
  help: "Receipts of settled payments that the reconciliation has read, by network.",
  labels: ["network"]
})

export const reconciledAt = defineGauge({
  name: "payment_books_read_timestamp_seconds",
  help: "When the chain and the receipts of a network were last compared to their end.",
  labels: ["network"]
})

export const channelOrders = defineCounter({
  name: "payment_channel_orders_total",
  help: "Deposits, refunds, claims, receipts and looks at the chain that gateways ordered for payment channels, and what other x402 servers had sent for theirs (Send), by network and what came of it.",
  labels: ["network", "order", "outcome"],
  values: {
    order: ["Look", "Deposit", "Receipt", "Claim", "Refund", "Send"],
    outcome: ["Done", "Refused", "Unavailable"]
  }
})

export const channelTransactions = defineCounter({
  name: "payment_channel_transactions_total",
  help: "Transactions that claimed what channels owe (claim) or moved it to the account that is paid (sweep), by network and outcome.",
  labels: ["network", "kind", "outcome"],
  values: { kind: ["claim", "sweep"], outcome: ["made", "refused", "later"] }
})

export const channelUnits = defineGauge({
  name: "payment_channel_units",
  help: "Sums over all payment channels of a network, in the token's smallest unit: charged, claimed, unclaimed, balance, and lost (charged, but no longer there to be claimed).",
  labels: ["network", "sum"]
})

export const channelsKnown = defineGauge({
  name: "payment_channels",
  help: "Payment channels by network: all, and those whose payer withdraws by itself.",
  labels: ["network", "which"]
})

export const channelWatchedAt = defineGauge({
  name: "payment_channels_watched_timestamp_seconds",
  help: "When the chain was last seen to be watched up to its newest block, by network. Vouchers are refused when it is long ago.",
  labels: ["network"]
})

export const channelDifferences = defineGauge({
  name: "payment_channel_differences",
  help: "What the last reconciliation could not explain between the records of payment channels, their receipts and the chain, by network.",
  labels: ["network"]
})

export const refunds = defineCounter({
  name: "payment_refunds_total",
  help: "Refunds that operators ordered and that have ended, by network: made, or failed without money moved.",
  labels: ["network", "outcome"],
  values: { outcome: ["made", "failed"] }
})

export const refundedUsd = defineCounter({
  name: "payment_refunded_usd_total",
  help: "What went back to payers, in US dollars, by the model that had been paid for; what was charged less this is revenue.",
  labels: ["model"]
})

export const refundsOpen = defineGauge({
  name: "payment_refunds_open",
  help: "Refunds that were ordered and have not ended, by network; shown by the settler that carries them on.",
  labels: ["network"]
})

export const settlerMetrics = [
  refunds,
  refundedUsd,
  refundsOpen,
  settlementTries,
  settlementSeconds,
  keysHeld,
  transactionsLeft,
  signatures,
  signatureSeconds,
  gapsFilled,
  findings,
  openFindings,
  transferredUnits,
  receiptedUnits,
  reconciledAt,
  channelOrders,
  channelTransactions,
  channelUnits,
  channelsKnown,
  channelWatchedAt,
  channelDifferences
]
