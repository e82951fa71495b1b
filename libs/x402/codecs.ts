/** The payment messages of the bus, as codecs. */
import { jsonCodec } from "#bus"
import { Receipt, SettlementOutcome, VerifyAnswer, VerifyRequest } from "#contracts"

export const verifyRequestCodec = jsonCodec(VerifyRequest)
export const verifyAnswerCodec = jsonCodec(VerifyAnswer)
export const settlementOutcomeCodec = jsonCodec(SettlementOutcome)
export const receiptCodec = jsonCodec(Receipt)
