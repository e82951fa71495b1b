/**
 * One live connection, from its handshake to its close: reads messages as they come, has its contexts speak, and
 * reports their events in its dialect. A slow reader delays only whoever speaks to it.
 */
import { Clock, Effect, Exit, Option, Result, Scope } from "effect"
import { withoutByteOrderMark } from "#base"
import { liveLimits, liveProtocol } from "#speech/api"
import {
  acceptWebSocket,
  Auth,
  Caller,
  emptyAnswer,
  forbidden,
  HttpCall,
  messageJson,
  validationFailed,
  type WebSocket,
  WebSocketClosed,
  WireError
} from "#http"
import { Configuration } from "#configuration"
import { type CounterOf, type HistogramHandle, Metrics } from "#runtime"
import { liveCloses, liveContexts, liveFirstAudioSeconds } from "../metrics.ts"
import { Lexicons } from "../lexicons/Lexicons.ts"
import { refusalOfVoice } from "../refusals.ts"
import { planSpeech } from "../speaking/plan.ts"
import { voicesOnceOpened } from "../voices/speakable.ts"
import { callerVersion } from "../http/version.ts"
import type { VoiceNames } from "../vendors/names.ts"
import type { ContextOrder, LiveCommand, LiveDialect, LiveEvent } from "./dialect.ts"
import { LiveConnections } from "./LiveConnections.ts"
import {
  type ContextEvent,
  endContext,
  flushContext,
  playedMarks,
  type LiveContext,
  openContext,
  stopContext,
  takeText
} from "./LiveContext.ts"

export const liveSockets = {
  messageBytesMax: liveLimits.messageBytesMax,
  pingEveryMs: 20_000,
  // The same as for a listener that reads a stream.
  stallMs: 60_000,
  protocols: [liveProtocol]
} as const

interface Open {
  readonly context: LiveContext
  readonly scope: Scope.Closeable
}

interface Connection {
  readonly socket: WebSocket
  readonly dialect: LiveDialect
  readonly workspace: string
  readonly scope: Scope.Scope
  readonly open: Map<string, Open>
  readonly allows: (nowMs: number) => boolean
  readonly ended: CounterOf<typeof liveContexts>
  readonly closes: CounterOf<typeof liveCloses>
  readonly firstAudio: HistogramHandle<never>
  /** Closes when its last context is over. */
  isClosing: boolean
  closeCode: number
}

type DialectOf = (call: HttpCall["Service"], voices: VoiceNames) => Result.Result<LiveDialect, WireError>

/** Accepts the caller's WebSocket, and serves it to its end. */
export const serveLive = (dialectOf: DialectOf) =>
  Effect.gen(function* () {
    const call = yield* HttpCall
    const caller = yield* Caller
    const connections = yield* LiveConnections
    yield* callerVersion
    yield* checkOrigin
    yield* connections.check(caller.tokenId)
    const { VendorVoices } = (yield* Configuration).SpeechApi
    const dialect = yield* Effect.fromResult(dialectOf(call, VendorVoices))
    const metrics = yield* Metrics
    const socket = yield* acceptWebSocket
    const connection: Connection = {
      socket,
      dialect,
      workspace: caller.workspace,
      scope: yield* Effect.scope,
      open: new Map(),
      allows: messageRate(),
      ended: metrics.counter(liveContexts),
      closes: metrics.counter(liveCloses),
      firstAudio: metrics.histogram(liveFirstAudioSeconds),
      isClosing: false,
      closeCode: 1001
    }
    yield* connections.enter({ tokenId: caller.tokenId, windDown: windDown(connection, "shutdown") })
    const count = (code: number) => Effect.sync(() => connection.closes.inc({ code: closeLabel(code) }))
    yield* Effect.flip(reading(connection)).pipe(
      Effect.tap(({ code }) => count(code)),
      // A connection that breaks without a close frame interrupts its request.
      Effect.onInterrupt(() => count(1_006)),
      Effect.ensuring(Effect.suspend(() => leaveAll(connection)))
    )
    return emptyAnswer()
  })

// Browsers name the calling page; other clients name none.
const checkOrigin = Effect.gen(function* () {
  const origin = Option.getOrUndefined((yield* HttpCall).header("origin"))
  const { AllowedOrigins } = (yield* Configuration).SpeechApi
  if (origin === undefined || AllowedOrigins.includes("*") || AllowedOrigins.includes(origin)) return
  return yield* forbidden(
    `pages of ${origin.slice(0, 200)} may not call; SpeechApi.AllowedOrigins names those that may`
  )
})

/** A bucket that refills at the sustained rate. */
const messageRate = () => {
  let left: number = liveLimits.messagesBurstMax
  let beforeMs: number | undefined
  return (nowMs: number) => {
    const gained = ((nowMs - (beforeMs ?? nowMs)) / 1_000) * liveLimits.messagesPerSecondMax
    left = Math.min(liveLimits.messagesBurstMax, left + gained) - 1
    beforeMs = nowMs
    return left >= 0
  }
}

const closeLabels = ["1000", "1001", "1003", "1005", "1006", "1007", "1008", "1009", "1011", "4408"] as const

const closeLabel = (code: number) => closeLabels.find((label) => label === String(code)) ?? "other"

const reading = (connection: Connection) =>
  Effect.gen(function* () {
    for (;;) {
      const taken = yield* Effect.timeoutOption(connection.socket.take, liveLimits.idleSecondsMax * 1_000)
      if (Option.isNone(taken)) {
        if (!isSpeaking(connection))
          return yield* closeWith(connection, 4_408, "nothing was sent or spoken for a minute")
        continue
      }
      for (const message of taken.value) yield* readOne(connection, message)
    }
  })

const isSpeaking = ({ open }: Connection) => [...open.values()].some(({ context }) => context.spoken < context.taken)

const closeWith = Effect.fnUntraced(function* ({ socket }: Connection, code: number, reason: string) {
  yield* socket.close(code, reason)
  return yield* new WebSocketClosed({ code })
})

const readOne = Effect.fnUntraced(function* (connection: Connection, message: string | Uint8Array) {
  if (!connection.allows(yield* Clock.currentTimeMillis)) {
    return yield* closeWith(connection, 1_008, `more than ${liveLimits.messagesPerSecondMax} messages a second`)
  }
  if (typeof message !== "string") return yield* closeWith(connection, 1_003, "every message is text")
  const commands = Result.flatMap(
    messageJson(withoutByteOrderMark(message), { bytesMax: liveLimits.messageBytesMax }),
    (json) => connection.dialect.read(json, (contextId) => connection.open.has(contextId))
  )
  if (Result.isFailure(commands)) return yield* refuse(connection, commands.failure, undefined)
  for (const command of commands.success) {
    const done = yield* Effect.result(perform(connection, command))
    if (Result.isSuccess(done)) continue
    if (done.failure._tag === "WebSocketClosed") return yield* done.failure
    yield* refuse(connection, done.failure, "contextId" in command ? command.contextId : undefined)
    // The rest of the message builds on it.
    return yield* closeWhenRefused(connection, done.failure)
  }
})

/** A connection of one context that could not start has nothing to wait for. */
const closeWhenRefused = (connection: Connection, { code }: WireError) =>
  connection.dialect.isOfOneContext === true && connection.open.size === 0
    ? closeWith(connection, 1_008, code)
    : Effect.void

const refuse = ({ dialect, socket }: Connection, error: WireError, contextId: string | undefined) =>
  socket.send(JSON.stringify(dialect.refuse(error, contextId)))

const perform = (connection: Connection, command: LiveCommand) =>
  Effect.gen(function* () {
    if (command._tag === "KeepAlive") return
    if (command._tag === "Reply") return yield* connection.socket.send(JSON.stringify(command.message))
    if (command._tag === "Close") return yield* windDown(connection, "ended")
    const { contextId } = command
    if (command._tag === "Start") return yield* start(connection, contextId, command.order)
    const found = connection.open.get(contextId)
    if (found === undefined) {
      return yield* new WireError({
        status: 404,
        code: "context_not_found",
        message: `no context ${contextId.slice(0, 128)} is open`
      })
    }
    const { context } = found
    if (command._tag === "Text") return yield* takeText(context, command.text)
    if (command._tag === "Flush") return yield* flushContext(context, command.flushId)
    if (command._tag === "End") return yield* endContext(context)
    return yield* cancel(connection, found, command.playedMs)
  })

const start = Effect.fnUntraced(function* (connection: Connection, contextId: string, order: ContextOrder) {
  const { open } = connection
  if (open.has(contextId)) {
    return yield* new WireError({
      status: 409,
      code: "context_open",
      message: `the context ${contextId} is open already`
    })
  }
  if (open.size >= liveLimits.contextsMax) {
    return yield* new WireError({
      status: 429,
      code: "concurrency_limit_reached",
      message: `a connection has at most ${liveLimits.contextsMax} contexts`,
      details: { contexts_max: liveLimits.contextsMax }
    })
  }
  if (connection.isClosing) {
    return yield* new WireError({
      status: 503,
      code: "service_unavailable",
      message: "the connection is about to close"
    })
  }
  yield* checkToken(connection)
  const plan = yield* planOf(connection, order)
  const scope = yield* Scope.fork(connection.scope)
  const opening = openContext({
    id: contextId,
    workspace: connection.workspace,
    plan,
    maxWaitMs: order.maxWaitMs,
    isSsml: order.ssml ?? false,
    emit: (context, event) => handle(connection, context, event),
    onFirstAudio: (seconds) => connection.firstAudio.observe({}, seconds)
  })
  const context = yield* Scope.provide(opening, scope)
  open.set(contextId, { context, scope })
  yield* say(connection, context, { _tag: "Started" })
})

/** A connection outlives the token that opened it; a context does not start without one. */
const checkToken = Effect.fnUntraced(function* (connection: Connection) {
  const known = yield* Effect.result((yield* Auth).identify)
  if (Result.isSuccess(known) || known.failure.status >= 500) return
  return yield* closeWith(connection, 1_008, known.failure.message.slice(0, 100))
})

/** Formats whose bytes can be joined, clause after clause. */
const joinable: ReadonlyArray<string> = ["pcm", "ulaw", "alaw", "mp3", "aac"]

const planOf = Effect.fnUntraced(function* ({ workspace }: Connection, asked: ContextOrder) {
  const { voiceId, maxWaitMs: _, ssml: __, ...order } = asked
  const turns = [{ voice_id: voiceId, input: "" }]
  const findVoice = yield* voicesOnceOpened(workspace, turns)
  const textNormalization = (yield* Configuration).SpeechApi.TextNormalization
  const options = { accept: undefined, charactersMax: liveLimits.contextTextMax, findVoice, textNormalization }
  const planned = planSpeech({ ...order, turns }, { ...options, route: "/v1/audio/stream/with-timestamps" })
  const plan = yield* Effect.fromResult(planned)
  yield* Effect.mapError((yield* Lexicons).matchers(workspace, plan.lexicons), refusalOfVoice)
  if (joinable.includes(plan.format.audioFormat)) return plan
  return yield* validationFailed({
    output_format: `${plan.format.name} cannot be joined clause by clause; ${joinable.join(", ")} can`
  })
})

const say = ({ dialect, socket }: Connection, context: LiveContext, event: LiveEvent) =>
  Effect.forEach(dialect.write(context, event), (message) => socket.send(JSON.stringify(message)), { discard: true })

/** Passes on what a context reports; with its last event it is over. A peer that is gone gets nothing. */
const handle = (connection: Connection, context: LiveContext, event: ContextEvent) =>
  Effect.gen(function* () {
    const isLast = event._tag === "Done" || event._tag === "Failed"
    if (isLast) yield* forget(connection, context, event._tag === "Done" ? "spoken" : "failed")
    yield* say(connection, context, event)
    if (isLast) yield* closeWhenDone(connection)
  }).pipe(Effect.catchTag("WebSocketClosed", () => Effect.void))

const forget = Effect.fnUntraced(function* (
  connection: Connection,
  { id }: LiveContext,
  outcome: (typeof liveContexts.values.outcome)[number]
) {
  const found = connection.open.get(id)
  if (found === undefined) return
  connection.open.delete(id)
  connection.ended.inc({ outcome })
  // Not in the context's own fiber, which this would wait for.
  yield* Effect.forkIn(Scope.close(found.scope, Exit.void), connection.scope)
})

const cancel = Effect.fnUntraced(function* (connection: Connection, { context }: Open, playedMs: number | undefined) {
  yield* stopContext(context)
  yield* forget(connection, context, "cancelled")
  const marks = playedMarks(context.marks, playedMs ?? 0)
  const others = playedMarks(context.others, playedMs ?? 0)
  yield* say(connection, context, { _tag: "Cancelled", marks, others })
  yield* closeWhenDone(connection)
})

/** Lets every context speak its remaining text; the last one closes the connection. */
const windDown = Effect.fnUntraced(function* (connection: Connection, reason: "ended" | "shutdown") {
  connection.isClosing = true
  connection.closeCode = reason === "ended" ? 1_000 : 1_001
  for (const { context } of connection.open.values()) {
    const ended = yield* Effect.result(endContext(context, reason))
    // No further text can close the element.
    if (Result.isFailure(ended)) yield* handle(connection, context, { _tag: "Failed", error: ended.failure })
  }
  yield* closeWhenDone(connection)
})

const closeWhenDone = ({ closeCode, dialect, isClosing, open, socket }: Connection): Effect.Effect<void> => {
  if (open.size > 0) return Effect.void
  if (isClosing) return socket.close(closeCode, closeCode === 1_000 ? "" : "the process ends")
  return dialect.isOfOneContext === true ? socket.close(1_000, "") : Effect.void
}

const leaveAll = ({ ended, open }: Connection) =>
  Effect.sync(() => {
    for (const _ of open.values()) ended.inc({ outcome: "left" })
    open.clear()
  })
