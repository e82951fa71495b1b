/**
 * Server-sent events: one `data:` line each, and a comment after each silence, so that neither a proxy nor the caller
 * takes the stream for dead. A slow first event does not hold back the headers forever.
 */
import { Cause, type Duration, Effect, Exit, Fiber, Pull, type Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { type AnswerOptions, type Bytes, logBreak } from "./answers.ts"

export interface ServerSentEvent {
  readonly event?: string
  readonly id?: string
  /** One line. */
  readonly data: string
  /** One line that clients do not see as an event; with empty `data` nothing else is sent. */
  readonly comment?: string
}

interface EventsOptions<E> extends AnswerOptions {
  /** The last event of a stream that fails after its headers; without one the connection is broken. */
  readonly onFailure?: (cause: Cause.Cause<E>) => ServerSentEvent
  readonly heartbeat?: Duration.Input
  /** How long the headers wait for the first event, which can still be a refusal; by default one heartbeat. */
  readonly headersWithin?: Duration.Input
}

const heartbeatDefault = "10 seconds"
const utf8 = new TextEncoder()
const keepAlive = utf8.encode(": keep-alive\n\n")

/** JSON has no line breaks of its own. */
export const jsonEvent = (value: unknown, event?: string): ServerSentEvent => ({
  ...(event === undefined ? {} : { event }),
  data: JSON.stringify(value)
})

type Step = { readonly bytes: Bytes } | "ended"

interface Flow<E> {
  readonly pull: Pull.Pull<ReadonlyArray<ServerSentEvent>, E>
  readonly scope: Scope.Scope
  readonly every: Duration.Input
  pulling: Fiber.Fiber<ReadonlyArray<ServerSentEvent>, E | Cause.Done> | undefined
  /** The first step, until it is taken. */
  step: Step | undefined
  hasFailed: boolean
}

export const eventsAnswer = Effect.fnUntraced(function* <E, R>(
  events: Stream.Stream<ServerSentEvent, E, R>,
  options: EventsOptions<E> = {}
) {
  const context = yield* Effect.context<R>()
  const flow: Flow<E> = {
    pull: Effect.provideContext(yield* Stream.toPull(events), context),
    scope: yield* Effect.scope,
    every: options.heartbeat ?? heartbeatDefault,
    pulling: undefined,
    step: undefined,
    hasFailed: false
  }
  flow.step = yield* next(flow, options.headersWithin ?? flow.every)

  const { onFailure } = options
  const rest = takeBytes(flow).pipe(
    Effect.tapCause(logBreak),
    Effect.catchCause((cause) => {
      if (onFailure === undefined || Pull.isDoneCause(cause) || Cause.hasInterruptsOnly(cause)) {
        return Effect.failCause(cause)
      }
      flow.hasFailed = true
      return Effect.sync(() => [utf8.encode(encoded(onFailure(cause as Cause.Cause<E>)))] as const)
    }),
    Effect.provideContext(yield* Effect.context<never>())
  )
  return HttpServerResponse.stream(Stream.fromPull(Effect.succeed(rest)), {
    status: options.status ?? 200,
    headers: { "cache-control": "no-store", "x-accel-buffering": "no", ...options.headers },
    contentType: "text/event-stream"
  })
})

const takeBytes = Effect.fnUntraced(function* <E>(flow: Flow<E>) {
  if (flow.hasFailed) return yield* Cause.done()
  const step = flow.step ?? (yield* next(flow, flow.every))
  flow.step = undefined
  return step === "ended" ? yield* Cause.done() : ([step.bytes] as const)
})

// A pull outlives the heartbeat that overtakes it: an interrupted pull would lose its event.
const next = Effect.fnUntraced(function* <E>(flow: Flow<E>, every: Duration.Input): Effect.fn.Return<Step, E> {
  flow.pulling ??= yield* Effect.forkIn(flow.pull, flow.scope, { startImmediately: true })
  const exit = flow.pulling.pollUnsafe() ?? (yield* waitFor(flow.pulling, every))
  if (exit === undefined) return { bytes: keepAlive }
  flow.pulling = undefined
  if (Exit.isSuccess(exit)) return { bytes: utf8.encode(exit.value.map(encoded).join("")) }
  if (Pull.isDoneCause(exit.cause)) return "ended"
  return yield* Effect.failCause(exit.cause as Cause.Cause<E>)
})

const waitFor = <A, E>(fiber: Fiber.Fiber<A, E>, every: Duration.Input) =>
  Effect.map(Effect.timeoutOption(Fiber.await(fiber), every), (done) => (done._tag === "Some" ? done.value : undefined))

const encoded = ({ event, id, data, comment }: ServerSentEvent): string => {
  const isComment = comment !== undefined && data === ""
  const lines = [
    ...(comment === undefined ? [] : [`: ${comment}`]),
    ...(event === undefined ? [] : [`event: ${event}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(isComment ? [] : [`data: ${data}`])
  ]
  if (lines.some((line) => /[\n\r]/u.test(line)))
    throw new RangeError("a line of a server-sent event has no line break")
  return `${lines.join("\n")}\n\n`
}
