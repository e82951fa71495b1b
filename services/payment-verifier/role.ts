/**
 * The role payment-verifier: answers whether a payment would settle, and claims it for one call.
 *
 * in: questions on `payments.verify` (queue group); `/verify`, `/settle` and `/supported` when
 * PaymentVerifier.FacilitatorPort is configured
 * out: questions to the chains' nodes or to a facilitator; `settlements.<network>` for `/settle`
 * state: claims in KV `authorizations`
 * failure policy: a chain or bus that does not answer is `Unavailable`, and the claim is released; a verifier that dies
 * leaves a claim that the next one takes over for the same question, or whose lease expires by itself
 */
import { Effect, Layer } from "effect"
import { Requests } from "#bus"
import { subjects } from "#base"
import { Configuration } from "#configuration"
import { Health } from "#runtime"
import { claimOptionsOf, Claims, networkChecks, TokenWatch, verifyAnswerCodec, verifyRequestCodec } from "#payments"
import { facilitatorApi } from "./facilitator/api.ts"
import { Networks, Verifier } from "./verifier.ts"

const reaching = Layer.effectDiscard(Effect.flatMap(Networks, (networks) => networkChecks(networks.values())))

const tokens = Layer.unwrap(Effect.map(Networks, (networks) => TokenWatch.layer(networks.values(), { isNeeded: true })))

/**
 * Answers `payments.verify`, one member of a queue group per question. Questions beyond the free slots wait until their
 * callers time out. A drain answers those already begun.
 */
const questions = Layer.effectDiscard(
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

const configuredClaims = Layer.unwrap(
  Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments)))
)

/** Needs the bus, the egress and the runtime. */
export const paymentVerifier = Layer.mergeAll(questions, facilitatorApi, reaching).pipe(
  Layer.provide(Verifier.layer),
  Layer.provide(tokens),
  Layer.provide(Layer.mergeAll(Networks.layer, configuredClaims))
)
