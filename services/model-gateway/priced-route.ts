/** A route with paid calls, up to the payment: takes a place, reads the body within its limits, and the call in it. */
import { Clock, Effect, type Result } from "effect"
import { Admission, type Answer, HttpCall } from "#http"
import { answering, type CallFailure } from "./answer-refusal.ts"
import type { ErrorDialect } from "./errors/GatewayFault.ts"
import { ModelRegistry } from "./models/ModelRegistry.ts"
import { readBody, type ReadBody, type ReadParts } from "./requests/read-call.ts"

interface PricedRoute<Call, A extends Answer, R> {
  readonly dialect: ErrorDialect
  /** Reads and checks a call. Pure, and cheap: each unpaid call is read. */
  readonly read: (body: ReadBody, parts: ReadParts) => Result.Result<Call, CallFailure>
  /** Pays for the call, makes it, and answers. */
  readonly answer: (call: Call, startedAtMs: number) => Effect.Effect<A, CallFailure, R>
}

export const pricedRoute = <Call, A extends Answer, R>({ dialect, read, answer }: PricedRoute<Call, A, R>) =>
  answering(dialect)(
    Effect.gen(function* () {
      const startedAtMs = yield* Clock.currentTimeMillis
      // The payer is not known yet, so places are shared by all callers.
      yield* (yield* Admission).enter("callers")
      const body = yield* readBody
      const parts = { find: (yield* ModelRegistry).find, http: yield* HttpCall }
      return yield* answer(yield* Effect.fromResult(read(body, parts)), startedAtMs)
    })
  )
