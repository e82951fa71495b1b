/**
 * x402, version 2: what a call costs and how a payment is asked for, read, claimed and accounted for. One
 * folder per kind of chain holds its scheme.
 */
export * from "./claim/index.ts"
export { ChainMismatch, ChainUnavailable, PaymentRefused, SettlementPending, SettlementRefused } from "./errors.ts"
export * from "./evm/index.ts"
export * from "./facilitator/index.ts"
export * from "./intake/index.ts"
export { x402Metrics } from "./metrics.ts"
export { openChains, openNetworks, type OpenNetwork } from "./networks/open-networks.ts"
export { TokenWatch } from "./networks/TokenWatch.ts"
export * from "./quote/index.ts"
export { codeOf, explained, reason as paymentReason } from "./reasons.ts"
export { type Balance, type BookedClaim, type Books, type BookTimes, type Finding, reconcile } from "./reconcile.ts"
export * from "./reply/index.ts"
export { verifyRequestCodec, verifyAnswerCodec, settlementOutcomeCodec, receiptCodec } from "./codecs.ts"
export type {
  ChainPosition,
  ChainStanding,
  ChainTransfer,
  CheckedPayment,
  PaymentScheme,
  PreparedSettlement,
  Settlement,
  SettlerKey,
  SettlerLease,
  TokenTerms
} from "./scheme.ts"
export * from "./svm/index.ts"
