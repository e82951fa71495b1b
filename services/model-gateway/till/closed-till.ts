/** The till where payments are not set up: without a way to be paid, paid models are not served. */
import { Effect, Layer } from "effect"
import { Till } from "../Till.ts"
import { unavailable } from "./till-replies.ts"

const message = "Payments are not set up here; only free models are served"
const retryAfterSeconds = 60

export const closedTill = Layer.succeed(Till, {
  quote: () => Effect.fail(unavailable("chat", message, retryAfterSeconds)),
  pay: ({ shape }) => Effect.fail(unavailable(shape, message, retryAfterSeconds))
})
