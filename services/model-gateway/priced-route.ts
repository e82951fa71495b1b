/**
 * A route with paid calls, up to the payment: takes a place, reads the body within its limits, and the call in it.
 * Prices are requested far more often than calls are made, so a prelude answers that in one step.
 */
import { Clock, Effect, Result } from "effect"
import { Admission, type Answer, type BegunCall, BodyRoom, HttpCall } from "#http"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { answering, type CallFailure, countedAnswers, quoteAnswer } from "./answer-refusal.ts"
import type { ErrorDialect } from "./errors/GatewayFault.ts"
import { ModelRegistry, type RegisteredModel } from "./models/ModelRegistry.ts"
import { PaymentGate } from "./payments/PaymentGate.ts"
import type { PayableCall } from "./payments/quote.ts"
import { bodyLimits, parsedBody, readBody, type ReadBody, type ReadParts } from "./requests/read-call.ts"

export interface PricedRoute<Call, A extends Answer, R> {
  readonly dialect: ErrorDialect
  /** Reads and checks a call. Pure, and cheap: each unpaid call is read. */
  readonly read: (body: ReadBody, parts: ReadParts) => Result.Result<Call, CallFailure>
  readonly payable: (call: Call, http: HttpCall["Service"]) => PayableCall
  /** Pays for the call, makes it, and answers. */
  readonly answer: (call: Call, startedAtMs: number) => Effect.Effect<A, CallFailure, R>
}

// The payer is not known yet, so places are shared by all callers.
const places = "callers"

export const pricedRoute = <Call extends { readonly model: RegisteredModel }, A extends Answer, R>(
  route: PricedRoute<Call, A, R>
) => ({
  handler: answering(route.dialect)(
    Effect.gen(function* () {
      const startedAtMs = yield* Clock.currentTimeMillis
      yield* (yield* Admission).enter(places)
      const body = yield* readBody
      const parts = { find: (yield* ModelRegistry).find, http: yield* HttpCall }
      return yield* route.answer(yield* Effect.fromResult(route.read(body, parts)), startedAtMs)
    })
  ),
  prelude: quotesAtOnce(route)
})

const quotesAtOnce = Effect.fnUntraced(function* <
  Call extends { readonly model: RegisteredModel },
  A extends Answer,
  R
>({ dialect, read, payable, answer }: PricedRoute<Call, A, R>) {
  const { ModelGateway } = yield* Configuration
  const limits = bodyLimits(ModelGateway)
  const admission = yield* Admission
  const { hold } = yield* BodyRoom
  const gate = yield* PaymentGate
  const { find } = yield* ModelRegistry
  const counted = countedAnswers(yield* Metrics)
  return {
    enter: () => Result.getOrUndefined(admission.take(places)),
    limits,
    holdRoom: hold,
    answer: ({ call: http, body, startedAtMs }: BegunCall) => {
      const parsed = parsedBody(body, limits)
      const call = Result.isFailure(parsed) ? Result.fail(parsed.failure) : read(parsed.success, { find, http })
      if (Result.isFailure(call)) return answering(dialect)(Effect.fail(call.failure))
      const quote = call.success.model.entry.Free ? undefined : gate.quote(payable(call.success, http))
      if (quote !== undefined) return counted(http, quoteAnswer(quote), quote.code)
      return answering(dialect)(answer(call.success, startedAtMs))
    }
  }
})
