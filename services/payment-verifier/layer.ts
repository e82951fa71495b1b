/**
 * The role payment-verifier, whole.
 *
 * in: questions on `payments.verify` (queue group); `/verify`, `/settle` and `/supported` where
 * PaymentVerifier.FacilitatorPort is given
 * out: questions to the chains' nodes or to a facilitator; `settlements.<network>` for `/settle`
 * state: claims in KV `authorizations`
 * failure policy: a chain or bus that does not answer is `Unavailable`, and the claim is let go; a verifier that
 * dies leaves a claim that the next one takes over for the same question, or whose lease ends by itself
 */
import { Effect, Layer } from "effect"
import { Configuration } from "#runtime"
import { claimOptionsOf, Claims, TokenWatch } from "#x402"
import { facilitatorApi } from "./facilitator-api.ts"
import { Networks } from "./Networks.ts"
import { questions } from "./questions.ts"
import { Verifier } from "./Verifier.ts"

const claims = Layer.unwrap(Effect.map(Configuration, ({ Payments }) => Claims.layer(claimOptionsOf(Payments))))

const tokens = Layer.unwrap(Effect.map(Networks, (networks) => TokenWatch.layer(networks.values(), { isNeeded: true })))

/** Needs the bus, the egress and the runtime. */
export const paymentVerifier = Layer.mergeAll(questions, facilitatorApi).pipe(
  Layer.provide(Verifier.layer),
  Layer.provide(tokens),
  Layer.provide(Layer.mergeAll(Networks.layer, claims))
)
