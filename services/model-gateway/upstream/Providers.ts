/**
 * One call to one provider. A complete answer is read to the end and must be valid. For a stream, the first event is
 * awaited for a while, so that a provider that fails at once can still be replaced. Everything ends in the caller's
 * scope: a caller that leaves cuts the provider off.
 */
import {
  Array as Arr,
  Cause,
  Clock,
  Context,
  Effect,
  Fiber,
  Layer,
  Pull,
  Result,
  type Scope,
  Stream,
  Redacted,
  Schema
} from "effect"
import {
  ConfiguredHttp,
  type EgressStream,
  type EgressClient,
  retryAfterMs,
  sanitise,
  type SanitiseOptions,
  type StreamError
} from "#egress"
import { Configuration } from "#configuration"
import { inSpan } from "#runtime"
import { ModelRegistry, type ModelRoute, type Provider } from "../models/ModelRegistry.ts"
import { holdsVectors, inputsOf } from "../requests/read-embeddings.ts"
import { isRecord, type JsonObject } from "../translate/json.ts"
import {
  type Decoded,
  eventDecoder,
  providerApis,
  type ProviderKind,
  type StreamFacts
} from "../translate/provider-apis.ts"
import { classifyUpstream, isWorthAnother, readUpstreamError } from "../errors/upstream-error.ts"
import { fault, GatewayFault } from "../errors/GatewayFault.ts"
import { type StatusClass, statusClasses, statusClassOf } from "./provider-faults.ts"

/** `count`: of tokens, by a provider with Anthropic's API. */
export type UpstreamPath = "chat" | "images" | "embeddings" | "count"

export interface ProviderCall {
  readonly route: ModelRoute
  readonly path: UpstreamPath
  readonly body: JsonObject
  /** The caller's headers that are forwarded to the provider. */
  readonly headers: Readonly<Record<string, string>>
  readonly family: string
}

export interface StreamedAnswer {
  readonly kind: ProviderKind
  /** Who answers. */
  readonly route: ModelRoute
  readonly facts: StreamFacts
  /** Events that arrive together are passed on together: a stream's cost is in its pieces, not in its events. */
  readonly next: Pull.Pull<Events, AttemptFailed>
}

type Events = Arr.NonEmptyReadonlyArray<JsonObject>

// The largest answer: ten images in base64.
const answerBytesMax = 64 * 1_024 * 1_024
const streamBytesMax = 64 * 1_024 * 1_024
const errorBytesMax = 64 * 1_024
const connectTimeoutMs = 5_000
const reachMs = 5_000
const lanesMax = 256
// How long a provider may take to close an answer after its last event.
const restMs = 200

export class Providers extends Context.Service<
  Providers,
  {
    readonly whole: (call: ProviderCall) => Effect.Effect<JsonObject, AttemptFailed>
    readonly stream: (call: ProviderCall) => Effect.Effect<StreamedAnswer, AttemptFailed, Scope.Scope>
    /** What a provider answers that is asked for its list of models, which costs nothing. */
    readonly reach: (provider: Provider) => Effect.Effect<StatusClass>
  }
>()("starling/model-gateway/Providers") {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const { hidden } = yield* ModelRegistry
      const client: EgressClient = yield* (yield* ConfiguredHttp).open({
        use: "models",
        connectionsPerLaneMax: 512,
        lanesMax,
        connectTimeoutMs
      })
      const headersMs = ModelGateway.FirstByteSeconds * 1_000
      const times = {
        headersMs,
        stallMs: ModelGateway.StallSeconds * 1_000,
        deadlineMs: ModelGateway.StreamSeconds * 1_000
      }

      const whole = Effect.fnUntraced(function* (call: ProviderCall) {
        const context = { hidden, family: call.family }
        const answer = yield* client
          .request({ ...providerRequest(call), deadlineMs: headersMs, responseBytesMax: answerBytesMax })
          .pipe(Effect.mapError((error) => brokenBy(context, error)))
        const text = Buffer.from(answer.body).toString("utf8")
        const contentType = answer.headers["content-type"] ?? ""
        const retryAfter = answer.headers["retry-after"]
        const nowMs = yield* Clock.currentTimeMillis
        const refuse = (status: number) => refusedBy(context, { status, contentType, text, retryAfter, nowMs })
        if (answer.status !== 200) return yield* refuse(answer.status)
        if (answer.truncated)
          return yield* call.path === "embeddings" ? tooManyVectors : garbled(context, "an endless answer")
        const body = Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))
        if (!isRecord(body)) return yield* garbled(context, `the answer is no JSON object: ${text.slice(0, 200)}`)
        // Routers report an error of the provider behind them in this form.
        if (isRecord(body["error"]) && body["choices"] === undefined) return yield* refuse(errorStatus(body["error"]))
        if (!holdsContent(call, body)) return yield* garbled(context, "the answer holds nothing")
        return body
      }, inSpan("Providers.whole"))

      const stream = Effect.fn("Providers.stream")(function* (call: ProviderCall) {
        const context = { hidden, family: call.family }
        const answer = yield* client
          .stream({ ...providerRequest(call), ...times, responseBytesMax: streamBytesMax })
          .pipe(Effect.mapError((error) => brokenBy(context, error)))
        const contentType = answer.headers["content-type"] ?? ""
        if (answer.status !== 200 || !contentType.includes("text/event-stream")) {
          return yield* refusedStream(context, answer, contentType)
        }
        const kind = call.route.provider.kind
        const facts: StreamFacts = { isFinished: false, usage: undefined, answerBytes: 0 }
        const next = yield* eventsOf(context, answer, kind, facts)
        return { kind, route: call.route, facts, next: yield* withFirst(next, ModelGateway.KeepAliveSeconds * 1_000) }
      })
      const reach = (provider: Provider) =>
        Effect.match(client.request(reachRequest(provider)), {
          onSuccess: ({ status }) => statusClassOf(status),
          onFailure: brokenClassOf
        })
      return Providers.of({ whole, stream, reach })
    })
  )
}

const errorStatus = ({ code }: JsonObject) => (typeof code === "number" && code >= 400 && code < 600 ? code : 502)

const holdsContent = ({ route, path, body: asked }: ProviderCall, body: JsonObject) => {
  if (path === "count") return Number.isSafeInteger(body["input_tokens"])
  if (path === "embeddings") return holdsVectors(body, inputsOf(asked["input"]).length)
  return Array.isArray(body[path === "images" ? "data" : providerApis[route.provider.kind].contentKey])
}

const refusedStream = Effect.fnUntraced(function* (context: AttemptContext, answer: EgressStream, contentType: string) {
  let text = ""
  const utf8 = new TextDecoder("utf-8")
  yield* answer.body.pipe(
    Stream.takeWhile(() => text.length < errorBytesMax),
    Stream.runForEach((bytes) => Effect.sync(() => (text += utf8.decode(bytes, { stream: true })))),
    Effect.mapError((error) => brokenBy(context, error))
  )
  const nowMs = yield* Clock.currentTimeMillis
  const body = Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))
  const isError = answer.status !== 200 || (isRecord(body) && body["error"] !== undefined)
  if (!isError) return yield* garbled(context, `no stream but ${contentType}: ${text.slice(0, 200)}`)
  const status = answer.status === 200 ? 502 : answer.status
  return yield* refusedBy(context, { status, contentType, text, retryAfter: answer.headers["retry-after"], nowMs })
})

const eventsOf = Effect.fnUntraced(function* (
  context: AttemptContext,
  answer: EgressStream,
  kind: ProviderKind,
  facts: StreamFacts
) {
  const pull = yield* Stream.toPull(Stream.mapError(answer.body, (error) => cutOff(brokenBy(context, error))))
  const decode = eventDecoder(kind, facts)
  return nextEvents({ context, facts, decode, pull, isOver: false, failure: undefined })
})

interface Reading {
  readonly context: AttemptContext
  readonly facts: StreamFacts
  readonly decode: ReturnType<typeof eventDecoder>
  readonly pull: Pull.Pull<ReadonlyArray<Uint8Array>, AttemptFailed>
  isOver: boolean
  failure: AttemptFailed | undefined
}

const nextEvents = Effect.fnUntraced(function* (
  reading: Reading
): Effect.fn.Return<Events, AttemptFailed | Cause.Done> {
  const { pull, facts } = reading
  for (;;) {
    // The events before the failure have been passed on.
    if (reading.failure !== undefined) return yield* reading.failure
    if (reading.isOver) {
      // A connection whose answer was read to the end can be reused.
      yield* Effect.timeoutOption(Effect.ignore(Effect.forever(pull)), restMs)
      return yield* facts.isFinished ? Cause.done() : brokenOff
    }
    const pieces = yield* Pull.catchDone(pull, () => Effect.succeed(undefined))
    if (pieces === undefined) reading.isOver = true
    else {
      const events = read(reading, pieces)
      if (Arr.isReadonlyArrayNonEmpty(events)) return events
    }
  }
})

const read = (reading: Reading, pieces: ReadonlyArray<Uint8Array>) => {
  const events: Array<JsonObject> = []
  for (const decoded of pieces.flatMap(reading.decode)) {
    if (decoded._tag === "Event") events.push(decoded.event)
    else {
      reading.isOver = true
      if (decoded._tag !== "End") reading.failure = failureOf(reading.context, decoded)
      break
    }
  }
  return events
}

/** The reason for the cut matters less than the fact that the answer is incomplete. */
const cutOff = (failed: AttemptFailed) => (failed.fault.code === "MODEL_UNAVAILABLE" ? brokenOff : failed)

const failureOf = (context: AttemptContext, decoded: Exclude<Decoded, { _tag: "Event" | "End" }>): AttemptFailed =>
  decoded._tag === "Garbage"
    ? garbled(context, `an event that is no JSON: ${decoded.text}`)
    : refusedBy(context, {
        status: decoded.status,
        contentType: "application/json",
        text: decoded.text,
        retryAfter: undefined,
        nowMs: 0
      })

/** Waits a while for the first events, and fails if they fail. No event is lost. */
const withFirst = Effect.fnUntraced(function* (next: Pull.Pull<Events, AttemptFailed>, withinMs: number) {
  const first = yield* Effect.forkScoped(next, { startImmediately: true })
  const exit = yield* Effect.timeoutOption(Fiber.await(first), withinMs)
  if (exit._tag === "Some") {
    yield* Pull.matchEffect(exit.value, {
      onSuccess: () => Effect.void,
      onFailure: (cause) => Effect.failCause(cause),
      onDone: () => Effect.fail(brokenOff)
    })
  }
  let isFirst = true
  return Effect.suspend(() => {
    if (!isFirst) return next
    isFirst = false
    return Fiber.join(first)
  })
})

const utf8 = new TextEncoder()

const pathOf = ({ kind }: Provider, path: UpstreamPath) => {
  if (path === "images") return "/images/generations"
  return path === "embeddings" ? "/embeddings" : `${providerApis[kind].path}${path === "count" ? "/count_tokens" : ""}`
}

const headersOf = ({ kind, key }: Provider, callers: Readonly<Record<string, string>>) => {
  const { headers, keyHeaders } = providerApis[kind]
  return { ...headers(callers), ...(key === undefined ? {} : keyHeaders(Redacted.value(key))) }
}

const providerRequest = ({ route: { provider, model }, path, body, headers }: ProviderCall) => ({
  method: "POST" as const,
  url: `${provider.baseUrl}${pathOf(provider, path)}`,
  headers: {
    "content-type": "application/json",
    accept: body["stream"] === true ? "text/event-stream" : "application/json",
    "user-agent": "starling",
    ...headersOf(provider, headers)
  },
  body: utf8.encode(JSON.stringify({ ...body, model })),
  connectionsMax: provider.connectionsMax
})

/** On a connection of its own: all others may be at work. */
const reachRequest = (provider: Provider) => ({
  method: "GET" as const,
  url: `${provider.baseUrl}/models`,
  headers: { accept: "application/json", "user-agent": "starling", ...headersOf(provider, {}) },
  body: null,
  lane: `check of ${provider.name}`,
  connectionsMax: 1,
  deadlineMs: reachMs,
  responseBytesMax: errorBytesMax,
  isRepeatable: true,
  isHeadEnough: true
})

/** Why a provider did not answer: the fault for the caller, and whether another provider may succeed. */
export class AttemptFailed extends Schema.TaggedError<AttemptFailed>()("AttemptFailed", {
  fault: GatewayFault,
  isWorthAnother: Schema.Boolean,
  /** The failure is the provider's, not the caller's. */
  isProviders: Schema.Boolean,
  /** For operators. */
  statusClass: Schema.Literals(statusClasses)
}) {}

interface AttemptContext {
  readonly hidden: SanitiseOptions
  /** The model family whose limit it is. */
  readonly family: string
}

const retryAfterSecondsMax = 3_600
const retryAfterSecondsDefault = 60

/** Some providers send a date in another form. */
const secondsOf = (retryAfter: string | undefined, nowMs: number): number | undefined => {
  const seconds = (retryAfterMs(retryAfter, nowMs) ?? Date.parse(retryAfter ?? "") - nowMs) / 1_000
  return Number.isNaN(seconds) ? undefined : Math.min(retryAfterSecondsMax, Math.max(1, Math.ceil(seconds)))
}

interface Refusal {
  readonly status: number
  readonly contentType: string
  readonly text: string
  readonly retryAfter: string | undefined
  readonly nowMs: number
}

const refusedBy = ({ hidden, family }: AttemptContext, refusal: Refusal): AttemptFailed => {
  const error = readUpstreamError(refusal.status, refusal.contentType, refusal.text)
  const { code, param } = classifyUpstream(error)
  const wait = secondsOf(refusal.retryAfter, refusal.nowMs)
  const limited = code === "RATE_LIMITED" ? { retryAfterSeconds: wait ?? retryAfterSecondsDefault, source: family } : {}
  const isOurs = isWorthAnother(code)
  const debug = sanitise(error.message, hidden)
  return new AttemptFailed({
    fault: fault(code, {
      debug,
      ...limited,
      ...(code === "MODEL_UNAVAILABLE" && wait !== undefined ? { retryAfterSeconds: wait } : {}),
      ...(param === undefined || isOurs ? {} : { param: param.slice(0, 200) }),
      ...(code === "INVALID_PARAMETER" && debug !== undefined
        ? { message: `The model rejected a parameter: ${debug}` }
        : {})
    }),
    isWorthAnother: isOurs,
    isProviders: isOurs && code !== "RATE_LIMITED",
    statusClass: refusedClassOf(refusal.status, code)
  })
}

/** Some say 400 of a wrong key, and 429 of an empty account. */
const refusedClassOf = (status: number, code: GatewayFault["code"]): StatusClass => {
  if (code !== "PROVIDER_CONFIG_ERROR" || [401, 402, 403].includes(status)) return statusClassOf(status)
  return status === 429 ? "402" : "401"
}

const brokenClassOf = ({ _tag }: StreamError): StatusClass => {
  switch (_tag) {
    case "DeadlineExceeded":
    case "Stalled":
      return "timeout"
    case "AddressRefused":
    case "InvalidUrl":
      return "not allowed"
    case "ResponseTooLarge":
      return "garbled"
    case "Unreachable":
    case "Withdrawn":
      return "unreachable"
  }
}

const brokenBy = ({ hidden }: AttemptContext, error: StreamError): AttemptFailed => {
  const debug = sanitise(error.message, hidden)
  const made = (code: "TIMEOUT" | "MODEL_UNAVAILABLE" | "INTERNAL_ERROR" | "PROVIDER_CONFIG_ERROR", isWorth: boolean) =>
    new AttemptFailed({
      fault: fault(code, { debug }),
      isWorthAnother: isWorth,
      isProviders: true,
      statusClass: brokenClassOf(error)
    })
  switch (error._tag) {
    // The caller has waited for as long as a call can take; a second provider would double that.
    case "DeadlineExceeded":
    case "Stalled":
      return made("TIMEOUT", false)
    case "Unreachable":
      return made("MODEL_UNAVAILABLE", true)
    case "ResponseTooLarge":
    // No call to a model is withdrawn before it is sent.
    case "Withdrawn":
      return made("INTERNAL_ERROR", true)
    case "AddressRefused":
    case "InvalidUrl":
      return made("PROVIDER_CONFIG_ERROR", true)
  }
}

/** An answer that cannot be parsed. */
const garbled = ({ hidden }: AttemptContext, what: string): AttemptFailed =>
  new AttemptFailed({
    fault: fault("INTERNAL_ERROR", { debug: sanitise(what, hidden) }),
    isWorthAnother: true,
    isProviders: true,
    statusClass: "garbled"
  })

/** Another provider's vectors would be as long. */
const tooManyVectors = new AttemptFailed({
  fault: fault("INVALID_REQUEST", {
    param: "input",
    message: "The embeddings are larger than 64 MiB: send fewer inputs in one call, or encoding_format base64"
  }),
  isWorthAnother: false,
  isProviders: false,
  statusClass: "2xx"
})

/** A stream that stopped before it was complete. */
const brokenOff = new AttemptFailed({
  fault: fault("MODEL_UNAVAILABLE", { message: "The model's answer broke off" }),
  isWorthAnother: true,
  isProviders: true,
  statusClass: "cut off"
})
