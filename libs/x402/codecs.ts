/** What is said of payments on the bus, as messages. */
import { jsonCodec } from "#bus"
import { Receipt, SettlementOutcome, VerifyAnswer, VerifyRequest } from "#contracts"

export const verifyRequestCodec = jsonCodec(VerifyRequest)
export const verifyAnswerCodec = jsonCodec(VerifyAnswer)
export const settlementOutcomeCodec = jsonCodec(SettlementOutcome)
export const receiptCodec = jsonCodec(Receipt)
