/**
 * The last stop before a caller of this API: any failure of a route becomes an answer in the route's own shape, and is
 * counted by its code. Defects are logged with their causes; the caller learns only that one occurred.
 */
import { Cause, Effect, Option } from "effect"
import {
  type Answer,
  type AnswerOptions,
  HttpCall,
  jsonAnswer,
  lastingAnswer,
  type RefusalAnswer,
  WireError,
  writtenJsonAnswer
} from "#http"
import { Metrics } from "#runtime"
import { clientOf } from "./clients.ts"
import { knownKey } from "./conversation/known-keys.ts"
import { clientCalls, gatewayRequests, refusals } from "./metrics.ts"
import { PaymentRefusal, quoteCode } from "./payments/replies.ts"
import {
  fault,
  GatewayFault,
  UnknownModel,
  type ErrorDialect,
  faultBody,
  faultHeaders,
  statusOf,
  unknownModelBody
} from "./errors/GatewayFault.ts"
export type CallFailure = GatewayFault | UnknownModel | PaymentRefusal | WireError

/** The code by which a failure is counted. */
export const codeOf = (failure: CallFailure): string => {
  if (failure instanceof UnknownModel) return "UNKNOWN_MODEL"
  return failure.code
}

/** A refusal by the shared HTTP code, in the gateway's words. */
const asFault = ({ status, message, headers }: WireError): GatewayFault => {
  const seconds = Number(headers?.["retry-after"])
  const retryAfterSeconds = Number.isInteger(seconds) ? seconds : undefined
  if (status === 429) return fault("RATE_LIMITED", { message, retryAfterSeconds, source: "gateway" })
  if (status === 503) return fault("MODEL_UNAVAILABLE", { message, retryAfterSeconds })
  return status >= 500 ? fault("INTERNAL_ERROR") : fault("INVALID_REQUEST", { message })
}

const quotes = new WeakMap<PaymentRefusal, RefusalAnswer>()

/** A quote that is sent many times has one answer. */
const quoteAnswer = (quote: PaymentRefusal): RefusalAnswer => {
  const known = quotes.get(quote)
  if (known !== undefined) return known
  const { status, headers, body } = quote
  const answer = lastingAnswer<RefusalAnswer>(writtenJsonAnswer(body, { status, headers }))
  quotes.set(quote, answer)
  return answer
}

const written = (dialect: ErrorDialect, failure: CallFailure): RefusalAnswer => {
  if (failure instanceof PaymentRefusal) {
    const { code, status, headers, body } = failure
    return code === quoteCode ? quoteAnswer(failure) : writtenJsonAnswer(body, { status, headers })
  }
  if (failure instanceof UnknownModel) {
    const { status = 400 } = failure
    return refused(unknownModelBody(failure), { status, headers: { "cache-control": "no-store" } })
  }
  const known = failure instanceof WireError ? asFault(failure) : failure
  return refused(faultBody(dialect, known), { status: statusOf(known.code), headers: faultHeaders(known) })
}

export const refused = (body: unknown, options: AnswerOptions) => jsonAnswer(body, options) as RefusalAnswer

/** For something that a path names and that does not exist. */
export const notFound = (message: string): RefusalAnswer =>
  refused(
    {
      error: { message, type: "invalid_request_error", code: "NOT_FOUND", param: null },
      message,
      code: "NOT_FOUND"
    },
    { status: 404, headers: { "cache-control": "no-store", "x-error-code": "NOT_FOUND" } }
  )

/** Answers with the route's answer, or with the reason why there is none. */
export const answering =
  (dialect: ErrorDialect) =>
  <A extends Answer, R>(handler: Effect.Effect<A, CallFailure, R>) =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const call = yield* HttpCall
      const refusal = metrics.counter(refusals)
      const counted = <Each extends Answer>(answer: Each, code: string) => countedAnswer(metrics, call, answer, code)
      return yield* handler.pipe(
        Effect.map((answer) => counted(answer, answer.headers["x-error-code"] ?? "ok")),
        Effect.catchDefect((defect) =>
          Effect.as(
            Effect.logError("a defect while answering", Cause.die(defect)),
            counted(written(dialect, fault("INTERNAL_ERROR")), "INTERNAL_ERROR")
          )
        ),
        Effect.catch((failure) =>
          Effect.sync(() => {
            if (mustChange(failure)) refusal.inc({ code: codeOf(failure), key: keyOf(failure) })
            return counted(written(dialect, failure), codeOf(failure))
          })
        )
      )
    })

/** Whether the same request would be refused again. */
const mustChange = (failure: CallFailure): failure is GatewayFault | UnknownModel => {
  if (failure instanceof UnknownModel) return true
  if (!(failure instanceof GatewayFault)) return false
  const status = statusOf(failure.code)
  return status < 500 && status !== 429 && !failure.code.startsWith("PAYMENT_")
}

const keyOf = (failure: GatewayFault | UnknownModel) => {
  if (failure instanceof UnknownModel) return "model"
  return failure.param === undefined ? "none" : knownKey(failure.param)
}

/** Counts an answer by its route and code. */
const countedAnswer = <Each extends Answer>(
  metrics: Metrics["Service"],
  { route, header }: HttpCall["Service"],
  answer: Each,
  code: string
): Each => {
  const client = clientOf(Option.getOrUndefined(header("user-agent")))
  metrics.counter(gatewayRequests).inc({ route: plainRoute(route), status: String(answer.status), code })
  metrics.counter(clientCalls).inc({ client, outcome: outcomeOf(answer.status, code) })
  return answer
}

const outcomeOf = (status: number, code: string) => {
  if (status < 400) return "ok"
  if (code === quoteCode) return "quoted"
  return status < 500 ? "refused" : "failed"
}

/** One name for a route under all of its base paths. */
export const plainRoute = (route: string): string => route.replace(/^(?:\/solana)?(?:\/api)?(?=\/v1\/)/u, "")
