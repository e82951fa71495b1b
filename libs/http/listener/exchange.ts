/**
 * One request from its head to the last byte of its answer: finds the route, runs the handler in a span with the
 * request's id on every log line, and turns every outcome into an answer in the API's own envelope. A defect is logged
 * with its cause and answered with 500, never left without an answer.
 */
import { Cause, Clock, Context, Effect, Exit, LogLevel, Option, References, Scope, Tracer } from "effect"
import { HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { type CounterOf, type HistogramHandle, parseTraceparent } from "#runtime"
import { HttpCall, type PerCall, remoteAddressOf, requestIdOf } from "../HttpCall.ts"
import {
  type ErrorHeaders,
  internalError,
  methodNotAllowed,
  notFound,
  type RenderError,
  renderStandardError,
  serviceUnavailable,
  type WireError
} from "../WireError.ts"
import { type Answer, assertSendable, emptyAnswer, jsonAnswer } from "../answers.ts"
import type { requests as requestsTotal } from "../metrics.ts"
import { corsHeaders, type CorsPolicy, preflightHeaders } from "./cors.ts"
import type { Match } from "./routes.ts"

export interface ExchangeOptions {
  readonly api: string
  readonly find: (method: string, url: string) => Match<PerCall>
  readonly renderError: RenderError
  readonly errorHeaders: ErrorHeaders
  /** Headers that carry the request's id, beside X-Request-Id. */
  readonly requestIdHeaders: ReadonlyArray<string>
  readonly trustedProxies: number
  readonly cors: CorsPolicy
  readonly isDraining: () => boolean
  readonly requests: CounterOf<typeof requestsTotal>
  readonly seconds: HistogramHandle<"api" | "route">
}

const unknownRoute = "none"

export const exchange = (
  options: ExchangeOptions
): Effect.Effect<Answer, never, HttpServerRequest.HttpServerRequest | Scope.Scope> =>
  // One step in place of a dozen: every request goes through here, and a quote costs less than those steps would.
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const scope = Context.getUnsafe(fiber.context, Scope.Scope)
    const clock = fiber.getRef(Clock.Clock)
    const isLogged = !LogLevel.isGreaterThan(fiber.getRef(References.MinimumLogLevel), "Debug")
    const startedAt = clock.currentTimeNanosUnsafe()
    const found = options.find(request.method, request.url)
    const call = callOf(options, request, found)
    return Effect.flatMap(spanOf(call), (span) => {
      let sentStatus = 0
      const account = (exit: Exit.Exit<unknown, unknown>) => {
        const endedAt = clock.currentTimeNanosUnsafe()
        span.end(endedAt, exit)
        return accountFor(options, {
          call,
          isLogged,
          status: sentStatus,
          outcome: outcomeOf(sentStatus, exit),
          seconds: Number(endedAt - startedAt) / 1e9
        })
      }
      const send = (answer: Answer) => {
        sentStatus = answer.status
        span.attribute("http.response.status_code", answer.status)
        return HttpServerResponse.setHeaders(answer, commonHeaders(options, call, found))
      }
      const handler = Effect.map(Effect.interruptible(handlerOf(options, request, found)), checkedAnswer)
      const answered = Effect.matchCauseEffect(handler, {
        onSuccess: (answer) => Effect.succeed(send(answer)),
        onFailure: (cause) =>
          isCallerGone(cause)
            ? Effect.succeed(send(emptyAnswer({ status: clientClosedRequest })))
            : Effect.map(refuse(cause, options, call.requestId), send)
      })
      const inCall = Effect.updateContext(answered, (context: GivenContext) => withCall(context, call, span))
      // The finalizer needs no service: merging a context of its own would copy every service.
      return Effect.andThen(Scope.addFinalizerExit(scope, account), inCall)
    })
  })

/** Continues the caller's trace, if there is one. */
const spanOf = ({ method, requestId, route, header }: HttpCall["Service"]) => {
  const parent = Option.flatMap(header("traceparent"), parseTraceparent)
  return Effect.makeSpan(`${method} ${route}`, {
    kind: "server",
    ...(Option.isSome(parent) ? { parent: parent.value } : { root: true }),
    attributes: { request_id: requestId, "http.request.method": method, "http.route": route }
  })
}

type GivenContext = Context.Context<Exclude<PerCall, HttpCall>>

/** The call, its span and its id on every log line. */
const withCall = (context: GivenContext, call: HttpCall["Service"], span: Tracer.Span) => {
  const annotations = Context.get(context, References.CurrentLogAnnotations)
  return context.pipe(
    Context.add(HttpCall, call),
    Context.add(Tracer.ParentSpan, span),
    Context.add(References.CurrentLogAnnotations, { ...annotations, request_id: call.requestId })
  )
}

interface Account {
  readonly call: HttpCall["Service"]
  readonly isLogged: boolean
  readonly status: number
  readonly outcome: RequestOutcome
  readonly seconds: number
}

const accountFor = (
  { api, requests, seconds: histogram }: ExchangeOptions,
  { call: { method, requestId, route }, isLogged, status, outcome, seconds }: Account
): Effect.Effect<void> => {
  requests.inc({ api, route, status: outcome })
  histogram.observe({ api, route }, seconds)
  if (!isLogged && status < 500) return Effect.void
  const log = status >= 500 ? Effect.logInfo("answered") : Effect.logDebug("answered")
  const facts = { request_id: requestId, api, method, route, status, outcome, ms: Math.round(seconds * 1e3) }
  return Effect.annotateLogs(log, facts)
}

// The status that nginx logs for callers that disconnected; it is never sent.
const clientClosedRequest = 499

const isCallerGone = (cause: Cause.Cause<unknown>) =>
  cause.reasons.some(({ annotations }) => annotations.has(HttpServerError.ClientAbort.key))

type RequestOutcome = (typeof requestsTotal.values.status)[number]

const statusClasses = ["5xx", "1xx", "2xx", "3xx", "4xx", "5xx"] as const

const outcomeOf = (status: number, exit: Exit.Exit<unknown, unknown>): RequestOutcome => {
  if (status === clientClosedRequest || (Exit.isFailure(exit) && isCallerGone(exit.cause))) return "gone"
  return Exit.isFailure(exit) && status < 500 ? "broken" : (statusClasses[Math.floor(status / 100)] ?? "5xx")
}

const callOf = (
  { trustedProxies }: ExchangeOptions,
  { method, remoteAddress, headers }: HttpServerRequest.HttpServerRequest,
  found: Match<PerCall>
): HttpCall["Service"] => ({
  requestId: requestIdOf(headers["x-request-id"]),
  method,
  route: found._tag === "Found" ? found.route.path : unknownRoute,
  params: found._tag === "Found" ? found.params : {},
  query: found._tag === "Found" ? found.query : {},
  remoteAddress: remoteAddressOf(
    Option.getOrElse(remoteAddress, () => "unknown"),
    headers["x-forwarded-for"],
    trustedProxies
  ),
  header: (name) => Option.fromNullishOr(headers[name])
})

const handlerOf = (
  { cors }: ExchangeOptions,
  { method, headers }: HttpServerRequest.HttpServerRequest,
  found: Match<PerCall>
): Effect.Effect<Answer, WireError, PerCall> => {
  if (found._tag === "Found") return found.route.handler
  if (found._tag === "Unknown") return Effect.fail(notFound("there is nothing at this path"))
  const preflight = method === "OPTIONS" ? preflightHeaders(cors, headers, found.crossOrigin) : undefined
  if (preflight !== undefined) return Effect.succeed(emptyAnswer({ headers: preflight }))
  return Effect.fail(methodNotAllowed(found.allowed))
}

/**
 * True even for a wrong method: a page's script should be able to read that answer. A preflight has its own headers.
 */
const isShared = (method: string, found: Match<PerCall>) => {
  if (found._tag === "Found") return found.route.isCrossOrigin === true
  return found._tag === "WrongMethod" && method !== "OPTIONS" && found.crossOrigin.length > 0
}

/** The headers of every answer. */
const commonHeaders = (
  { cors, isDraining, requestIdHeaders }: ExchangeOptions,
  { method, requestId, header }: HttpCall["Service"],
  found: Match<PerCall>
) => {
  const shared = isShared(method, found) ? corsHeaders(cors, Option.getOrUndefined(header("origin"))) : {}
  const headers: Record<string, string> = { ...shared, "x-request-id": requestId }
  for (const name of requestIdHeaders) headers[name.toLowerCase()] = requestId
  if (isDraining()) headers["connection"] = "close"
  return headers
}

/**
 * Turns every outcome of a handler into an answer that can be sent. Of a defect the caller learns only that it
 * happened.
 */
const refuse = (cause: Cause.Cause<WireError>, options: Writing, requestId: string) =>
  Effect.flatMap(refusalOf(cause), (error) =>
    Effect.catchDefect(written(error, options, requestId), (defect) =>
      Effect.andThen(
        Effect.logError("a defect while writing an error", Cause.die(defect)),
        written(internalError(), { ...options, renderError: renderStandardError }, requestId)
      )
    )
  )

type Writing = Pick<ExchangeOptions, "renderError" | "errorHeaders">

const checkedAnswer = (answer: Answer): Answer => {
  assertSendable(answer)
  return answer
}

const refusalOf = (cause: Cause.Cause<WireError>): Effect.Effect<WireError> => {
  // The request was stopped while its caller waits: by a process shutting down, or by itself.
  if (Cause.hasInterruptsOnly(cause)) return Effect.succeed(serviceUnavailable(1, "the request was stopped"))
  const failure = Cause.findErrorOption(cause)
  if (Option.isSome(failure) && !Cause.hasDies(cause)) return Effect.succeed(failure.value)
  return Effect.as(Effect.logError("a defect while answering", cause), internalError())
}

const written = (error: WireError, { renderError, errorHeaders }: Writing, requestId: string) =>
  Effect.sync(() =>
    checkedAnswer(
      jsonAnswer(renderError(error, requestId), {
        status: error.status,
        headers: { ...errorHeaders(error), ...error.headers }
      })
    )
  )
