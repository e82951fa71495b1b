/**
 * x402, version 2: what a call costs and how a payment is requested, read, claimed and accounted for. One folder per
 * kind of chain holds its scheme.
 */
export * from "./claims/index.ts"
export {
  ChainMismatch,
  ChainUnavailable,
  PaymentRefused,
  SettlementPending,
  SettlementRefused,
  codeOf,
  explained,
  reason as paymentReason
} from "./errors.ts"
export * from "./chains/evm/index.ts"
export * from "./facilitator/index.ts"
export {
  differingField,
  matchOffer,
  decodePayment,
  paymentHeaderBytesMax,
  type PaymentHeaders,
  readPayment,
  paymentIdentifier
} from "./payment-header.ts"
export { x402Metrics } from "./metrics.ts"
export { collectByMs, readSettlerKey, statedClaimKey, statedEndMs } from "./chains/families.ts"
export { openChains, openNetworks, type OpenNetwork } from "./networks.ts"
export { TokenWatch } from "./TokenWatch.ts"
export {
  chargedInputTokens,
  inputTokensOf,
  type PromptSize,
  atomicAmount,
  decimalAmount,
  microUsdOf,
  type Offer,
  offerOf,
  type OutputTokens,
  outputTokensHeaders,
  outputTokensOf,
  flatPrice,
  type Tariff,
  tariffOf,
  tokenPrice,
  type TokenPrices,
  type TokenUse
} from "./quote.ts"
export {
  modelResource,
  type Quote,
  quoteText,
  type QuoteText,
  type ResourceOf,
  exposedHeaders,
  settledHeaders,
  type SettledPayment,
  unsettledHeaders,
  type PaymentFailure,
  type PaymentReply,
  paymentRequired,
  type ReplyShape,
  settlementFailed,
  verificationFailed
} from "./replies.ts"
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
export * from "./chains/solana/index.ts"
