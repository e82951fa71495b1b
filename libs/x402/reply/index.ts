/** What a 402 and a paid answer say. */
export { modelResource, type Quote, quoteText, type QuoteText, type ResourceOf } from "./payment-required.ts"
export { exposedHeaders, settledHeaders, type SettledPayment, unsettledHeaders } from "./receipt-headers.ts"
export {
  type PaymentFailure,
  type PaymentReply,
  paymentRequired,
  type ReplyShape,
  settlementFailed,
  verificationFailed
} from "./replies.ts"
