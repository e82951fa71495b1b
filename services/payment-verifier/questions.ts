/**
 * Answers `payments.verify`, one of a queue group for each question. What is asked beyond the places waits; whoever
 * asks gives up by itself. A drain answers what it has begun.
 */
import { Effect, Layer } from "effect"
import { Requests } from "#bus"
import { subjects } from "#contracts"
import { Configuration, Health } from "#runtime"
import { verifyAnswerCodec, verifyRequestCodec } from "#x402"
import { Verifier } from "./Verifier.ts"

export const questions = Layer.effectDiscard(
  Effect.gen(function* () {
    const { PaymentVerifier } = yield* Configuration
    const { verify } = yield* Verifier
    yield* (yield* Requests).answer({
      subject: subjects.paymentsVerify,
      queueGroup: "payment-verifier",
      question: verifyRequestCodec,
      answer: verifyAnswerCodec,
      concurrency: PaymentVerifier.RunningMax,
      handler: verify
    })
    yield* (yield* Health).readiness("payment-verifier", Effect.void)
  })
)
