/**
 * One call to one provider. Whole answers are read to the end and must be what they say; of a stream the first
 * event is awaited for a while, so that a provider that fails at once can still be replaced. Everything ends in
 * the caller's scope: a caller who leaves cuts the provider off.
 */
import { Array as Arr, Cause, Clock, Context, Effect, Fiber, Layer, Pull, Result, type Scope, Stream } from "effect"
import { ConfiguredHttp, type EgressStream, type HttpDoor } from "#egress"
import { Configuration } from "#runtime"
import { Catalogue, type ModelRoute } from "../requests/Catalogue.ts"
import { isRecord, type JsonObject } from "../translate/json.ts"
import type { StreamFacts } from "../translate/Translator.ts"
import { type AttemptContext, type AttemptFailed, brokenBy, brokenOff, garbled, refusedBy } from "./attempt-failed.ts"
import { type Decoded, type Dialect, eventDecoder } from "./event-decoder.ts"
import { providerRequest, type UpstreamPath } from "./provider-request.ts"

export interface ProviderCall {
  readonly route: ModelRoute
  readonly path: UpstreamPath
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly family: string
}

export interface StreamedAnswer {
  readonly dialect: Dialect
  readonly facts: StreamFacts
  /** What came together is told together: a stream costs by its pieces, not by its events. */
  readonly next: Pull.Pull<Events, AttemptFailed>
}

export type Events = Arr.NonEmptyReadonlyArray<JsonObject>

// The largest: ten images in base64.
const answerBytesMax = 64 * 1_024 * 1_024
const streamBytesMax = 64 * 1_024 * 1_024
const errorBytesMax = 64 * 1_024
const connectTimeoutMs = 5_000
const lanesMax = 256
// How long a provider may take to end an answer that it has called ended.
const restMs = 200

export class Providers extends Context.Service<
  Providers,
  {
    readonly whole: (call: ProviderCall) => Effect.Effect<JsonObject, AttemptFailed>
    readonly stream: (call: ProviderCall) => Effect.Effect<StreamedAnswer, AttemptFailed, Scope.Scope>
  }
>()("starling/model-gateway/Providers") {
  static readonly layer = Layer.effect(
    Providers,
    Effect.gen(function* () {
      const { ModelGateway } = yield* Configuration
      const { hidden } = yield* Catalogue
      const door: HttpDoor = yield* (yield* ConfiguredHttp).open({
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
      const request = ({ route, path, body, headers }: ProviderCall) => providerRequest(route, path, body, headers)

      const whole = Effect.fn("Providers.whole")(function* (call: ProviderCall) {
        const context = { hidden, family: call.family }
        const answer = yield* door
          .request({ ...request(call), deadlineMs: headersMs, responseBytesMax: answerBytesMax })
          .pipe(Effect.mapError((error) => brokenBy(context, error)))
        const text = Buffer.from(answer.body).toString("utf8")
        const contentType = answer.headers["content-type"] ?? ""
        const retryAfter = answer.headers["retry-after"]
        const nowMs = yield* Clock.currentTimeMillis
        const refuse = (status: number) => refusedBy(context, { status, contentType, text, retryAfter, nowMs })
        if (answer.status !== 200) return yield* refuse(answer.status)
        if (answer.truncated) return yield* garbled(context, "an endless answer")
        const body = Result.getOrUndefined(Result.try(() => JSON.parse(text) as unknown))
        if (!isRecord(body)) return yield* garbled(context, `the answer is no JSON object: ${text.slice(0, 200)}`)
        // Routers say so of those they have asked themselves.
        if (isRecord(body["error"]) && body["choices"] === undefined) return yield* refuse(errorStatus(body["error"]))
        if (!Array.isArray(body[contentKey(call)])) return yield* garbled(context, "the answer holds nothing")
        return body
      })

      const stream = Effect.fn("Providers.stream")(function* (call: ProviderCall) {
        const context = { hidden, family: call.family }
        const answer = yield* door
          .stream({ ...request(call), ...times, responseBytesMax: streamBytesMax })
          .pipe(Effect.mapError((error) => brokenBy(context, error)))
        const contentType = answer.headers["content-type"] ?? ""
        if (answer.status !== 200 || !contentType.includes("text/event-stream")) {
          return yield* refusedStream(context, answer, contentType)
        }
        const dialect = call.route.provider.kind
        const facts: StreamFacts = { isFinished: false, usage: undefined }
        const next = yield* eventsOf(context, answer, dialect, facts)
        return { dialect, facts, next: yield* withFirst(next, ModelGateway.KeepAliveSeconds * 1_000) }
      })
      return Providers.of({ whole, stream })
    })
  )
}

const errorStatus = ({ code }: JsonObject) => (typeof code === "number" && code >= 400 && code < 600 ? code : 502)

const contentKey = ({ route, path }: ProviderCall) => {
  if (path === "images") return "data"
  return route.provider.kind === "anthropic" ? "content" : "choices"
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
  dialect: Dialect,
  facts: StreamFacts
) {
  const pull = yield* Stream.toPull(Stream.mapError(answer.body, (error) => cutOff(brokenBy(context, error))))
  const decode = eventDecoder(dialect, facts)
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
    // What came before a failure has been told.
    if (reading.failure !== undefined) return yield* reading.failure
    if (reading.isOver) {
      // A connection whose answer was read to its end is used again.
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

/** Why a connection was cut matters less than that the answer is not whole. */
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

/** Waits a while for the first events, and fails with them if they fail. Nothing that comes is lost. */
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
