/** A payment as it arrives. */
export { differingField, matchOffer } from "./match-offer.ts"
export { decodePayment, paymentHeaderBytesMax, type PaymentHeaders, readPayment } from "./payment-header.ts"
export { paymentIdentifier } from "./payment-identifier.ts"
