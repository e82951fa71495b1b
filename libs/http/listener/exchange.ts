/**
 * One request from its head to the last byte of its answer: finds the route, runs the handler in a span with the
 * request's id on every log line, and turns every outcome into an answer in the API's own envelope. A defect is logged
 * with its cause and answered with 500, never left without an answer. A route's prelude runs before all of that, and
 * its answer replaces it.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Cause, Clock, Context, Effect, Exit, LogLevel, Option, References, Result, Scope, Tracer } from "effect"
import { type Headers, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
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
import { type Answer, assertSendable, emptyAnswer, isLasting, jsonAnswer, type LastingAnswer } from "../answers.ts"
import type { requests as requestsTotal } from "../metrics.ts"
import { corsHeaders, type CorsPolicy, preflightHeaders } from "./cors.ts"
import { takeBytesWhile } from "../bodies/read-body.ts"
import type { BegunCall, Match, Prelude, Route } from "./routes.ts"

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
  // One step in place of a dozen: a quote costs less than those steps would.
  Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    const scope = Context.getUnsafe(fiber.context, Scope.Scope)
    const clock = fiber.getRef(Clock.Clock)
    const isLogged = !LogLevel.isGreaterThan(fiber.getRef(References.MinimumLogLevel), "Debug")
    const { headers } = request
    const earlier = begun.get(NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage)
    const startedAt = earlier?.startedAt ?? clock.currentTimeNanosUnsafe()
    const found = earlier?.found ?? options.find(request.method, request.url)
    const peer = Option.getOrUndefined(request.remoteAddress)
    const call = earlier?.call ?? callOf(options, { method: request.method, peer, headers }, found)
    const parent = parseTraceparent(headers["traceparent"])
    const makeSpan = Effect.makeSpan(spanName(call), {
      kind: "server",
      ...(Option.isSome(parent) ? { parent: parent.value } : { root: true }),
      attributes: spanAttributes(call)
    })
    return Effect.flatMap(earlier === undefined ? makeSpan : Effect.succeed(earlier.span), (span) => {
      const sent = { status: 0 }
      const account = (exit: Exit.Exit<unknown, unknown>) => {
        const endedAt = clock.currentTimeNanosUnsafe()
        span.end(endedAt, exit)
        earlier?.leave()
        const seconds = Number(endedAt - startedAt) / 1e9
        return accountFor(options, {
          call,
          isLogged,
          seconds,
          status: sent.status,
          outcome: outcomeOf(sent.status, exit)
        })
      }
      const send = (answer: Answer) => {
        sent.status = answer.status
        span.attribute("http.response.status_code", answer.status)
        return HttpServerResponse.setHeaders(answer, commonHeaders(options, { call, found, origin: headers["origin"] }))
      }
      const handler = earlier?.rest ?? handlerOf(options, request.method, headers, found)
      const answered = Effect.matchCauseEffect(Effect.map(Effect.interruptible(handler), checkedAnswer), {
        onSuccess: (answer) => Effect.succeed(send(answer)),
        onFailure: (cause) =>
          isCallerGone(cause)
            ? Effect.succeed(send(emptyAnswer({ status: clientClosedRequest })))
            : Effect.map(refuse(cause, options, call.requestId), send)
      })
      const inCall = Effect.updateContext(answered, (context: GivenContext) => withCall(context, { call, span }))
      // The finalizer needs no service: merging a context of its own would copy every service.
      return Effect.andThen(Scope.addFinalizerExit(scope, account), inCall)
    })
  })

const spanName = ({ method, route }: HttpCall["Service"]) => `${method} ${route}`

const spanAttributes = ({ method, requestId, route }: HttpCall["Service"]) => ({
  request_id: requestId,
  "http.request.method": method,
  "http.route": route
})

/** A request that its route's prelude leaves to the exchange. */
interface Begun {
  readonly call: HttpCall["Service"]
  readonly found: Match<PerCall>
  readonly startedAt: bigint
  readonly span: Tracer.Span
  readonly rest: Effect.Effect<Answer, WireError, PerCall>
  /** Releases the request's slot. */
  readonly leave: () => void
}

const begun = new WeakMap<IncomingMessage, Begun>()

interface PreludeOptions {
  readonly preludes: ReadonlyMap<Route<PerCall>, Prelude<PerCall>>
  readonly clock: Clock.Clock
  readonly tracer: Tracer.Tracer
  /** Each request is logged: then every answer takes the full path. */
  readonly isLogged: boolean
  /** The path of all requests: the exchange. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

/** Lets preludes answer what they can, and leaves the rest to the exchange. */
export const withPreludes =
  (options: ExchangeOptions, { preludes, clock, tracer, isLogged, handle }: PreludeOptions) =>
  (request: IncomingMessage, response: ServerResponse): void => {
    const { method = "", url = "" } = request
    const found = url.startsWith("/") ? options.find(method, url) : undefined
    const prelude = found?._tag === "Found" ? preludes.get(found.route) : undefined
    const leavePlace = prelude?.enter()
    if (found === undefined || prelude === undefined || leavePlace === undefined) return handle(request, response)
    const room = prelude.holdRoom?.()
    const leave = () => {
      room?.free()
      leavePlace()
    }
    const startedAt = clock.currentTimeNanosUnsafe()
    const startedAtMs = clock.currentTimeMillisUnsafe()
    const headers = request.headers as Headers.Headers
    const call = callOf(options, { method, peer: request.socket.remoteAddress, headers }, found)
    const makeSpan = () => beginSpan(tracer, call, { traceparent: headers["traceparent"], startedAt })
    const end = (outcome: RequestOutcome, status: number) => {
      leave()
      // No span of the default tracer is ever read.
      if (tracer !== Tracer.nativeTracer) endSpan(makeSpan(), status, clock.currentTimeNanosUnsafe())
      count(options, { route: call.route, outcome, seconds: Number(clock.currentTimeNanosUnsafe() - startedAt) / 1e9 })
    }
    let stop = () => undefined as void
    const onGone = () => {
      stop()
      end("gone", clientClosedRequest)
    }
    response.on("close", onGone)
    stop = takeBytesWhile(request, { ...prelude.limits, room }, (body) => {
      response.off("close", onGone)
      const answer = answerOf(prelude, { call, body, startedAtMs })
      if (isLogged || !isAtOnce(answer)) {
        const rest = Effect.isEffect(answer) ? answer : Effect.succeed(answer)
        begun.set(request, { call, found, startedAt, span: makeSpan(), rest, leave })
        return handle(request, response)
      }
      const { status, headers: own, body: content } = answer
      response.writeHead(status, { ...own, ...commonHeaders(options, { call, found, origin: headers["origin"] }) })
      response.end(content.text ?? content.body)
      return end(statusClasses[Math.floor(status / 100)] ?? "5xx", status)
    })
  }

interface BegunSpan {
  readonly traceparent: string | undefined
  readonly startedAt: bigint
}

/** The same span as the exchange's, started with the request. */
const beginSpan = (tracer: Tracer.Tracer, call: HttpCall["Service"], { traceparent, startedAt }: BegunSpan) => {
  const parent = parseTraceparent(traceparent)
  const span = tracer.span({
    name: spanName(call),
    kind: "server",
    parent,
    root: Option.isNone(parent),
    annotations: Context.empty(),
    links: [],
    startTime: startedAt,
    sampled: Option.isNone(parent) || parent.value.sampled
  })
  for (const [key, value] of Object.entries(spanAttributes(call))) span.attribute(key, value)
  return span
}

const endSpan = (span: Tracer.Span, status: number, endedAt: bigint) => {
  span.attribute("http.response.status_code", status)
  span.end(endedAt, Exit.void)
}

const answerOf = (prelude: Prelude<PerCall>, call: BegunCall) =>
  Result.getOrElse(
    Result.try(() => prelude.answer(call)),
    (defect) => Effect.die(defect)
  )

/** An answer that is known to be sendable, in one piece, with nothing else to add. */
const isAtOnce = (answer: Answer | Effect.Effect<Answer, WireError, PerCall>): answer is LastingAnswer =>
  !Effect.isEffect(answer) && isLasting(answer)

type GivenContext = Context.Context<Exclude<PerCall, HttpCall>>

/** The call, its span and its id on every log line. */
const withCall = (
  context: GivenContext,
  { call, span }: { readonly call: HttpCall["Service"]; readonly span: Tracer.Span }
) => {
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
  options: ExchangeOptions,
  { call, isLogged, status, outcome, seconds: tookSeconds }: Account
): Effect.Effect<void> => {
  const { api } = options
  const { method, requestId, route } = call
  count(options, { route, outcome, seconds: tookSeconds })
  if (!isLogged && status < 500) return Effect.void
  const log = status >= 500 ? Effect.logInfo("answered") : Effect.logDebug("answered")
  const facts = { request_id: requestId, api, method, route, status, outcome, ms: Math.round(tookSeconds * 1e3) }
  return Effect.annotateLogs(log, facts)
}

const count = (
  { api, requests, seconds }: ExchangeOptions,
  { route, outcome, seconds: tookSeconds }: Pick<Account, "outcome" | "seconds"> & { readonly route: string }
) => {
  requests.inc({ api, route, status: outcome })
  seconds.observe({ api, route }, tookSeconds)
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

interface RequestHead {
  readonly method: string
  readonly peer: string | undefined
  readonly headers: Headers.Headers
}

const callOf = (
  { trustedProxies }: ExchangeOptions,
  { method, peer = "unknown", headers }: RequestHead,
  found: Match<PerCall>
): HttpCall["Service"] => ({
  requestId: requestIdOf(headers["x-request-id"]),
  method,
  route: found._tag === "Found" ? found.route.path : unknownRoute,
  params: found._tag === "Found" ? found.params : {},
  query: found._tag === "Found" ? found.query : {},
  remoteAddress: remoteAddressOf(peer, headers["x-forwarded-for"], trustedProxies),
  header: (name) => Option.fromNullishOr(headers[name])
})

const handlerOf = (
  { cors }: ExchangeOptions,
  method: string,
  headers: Headers.Headers,
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

interface AnsweredCall {
  readonly call: HttpCall["Service"]
  readonly found: Match<PerCall>
  readonly origin: string | undefined
}

/** The headers of every answer. */
const commonHeaders = (
  { cors, isDraining, requestIdHeaders }: ExchangeOptions,
  { call: { method, requestId }, found, origin }: AnsweredCall
) => {
  const shared = isShared(method, found) ? corsHeaders(cors, origin) : {}
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
