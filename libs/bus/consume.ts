/**
 * Takes messages from a durable consumer and hands each to a handler, as many at once as the consumer allows unacked.
 * Decoding, redelivery, heartbeats, acks and drain are done here:
 * - a message that fails its schema goes to REJECTED and is acked, so it blocks no other message;
 * - a message in work for longer than a third of the ack wait is kept alive by a heartbeat;
 * - a message redelivered while it is in work, or after it was finished, is not handled twice;
 * - a handler that dies is logged at ERROR, and its message is handed back after a delay;
 * - drain stops taking, lets running handlers finish, and hands back the rest at once.
 *
 * The REJECTED stream holds messages that failed their schema, with every fault and its path. The broken bytes are kept
 * up to 64 KiB with secrets removed, so that an operator can inspect what arrived.
 */
import type { Consumer, ConsumerMessages, JsMsg } from "@nats-io/jetstream"
import { Cause, Clock, Data, Effect, Exit, Fiber, Latch, Result, Schedule, type Scope } from "effect"
import type { Fault } from "#base"
import { defineCounter, Metrics } from "#runtime"
import { Nats } from "./connection/connection.ts"
import { type ConsumerDeclaration, Consumers } from "./consumers.ts"
import { type BusError, BusUnavailable, toBusError } from "./errors.ts"
import { header, headerReader, type MessageCodec } from "./message.ts"
import { makeRoom, type Room } from "./room.ts"
import { Rejections } from "./rejections.ts"

export const busConsumed = defineCounter({
  name: "bus_consumed_total",
  help: "Messages handed to a consumer's handler, by stream and what became of them: acked (also a broken one, once it is in REJECTED), handed_back, failed.",
  labels: ["stream", "outcome"],
  values: { outcome: ["acked", "handed_back", "failed"] }
})

export const busRedelivered = defineCounter({
  name: "bus_redelivered_total",
  help: "Messages that arrived again because an earlier delivery was not acknowledged, by stream.",
  labels: ["stream"]
})

/**
 * A handler's decision about a message. `Ack`: finished, never deliver it again. `Nak`: deliver it again, possibly to
 * this process, at once or after a delay, without counting anything.
 */
export type AckDecision = Data.TaggedEnum<{
  Ack: {}
  Nak: { readonly delayMs: number }
}>

const { Ack, Nak } = Data.taggedEnum<AckDecision>()

export const ack: AckDecision = Ack()
export const nak = (delayMs = 0): AckDecision => Nak({ delayMs })

/** A decoded message with the broker's metadata. Times in epoch milliseconds. */
export interface Received<A> {
  readonly value: A
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  readonly traceparent: string | undefined
}

export interface ConsumeOptions<A, R> {
  readonly consumer: ConsumerDeclaration
  /** Messages pulled from the broker at once; defaults to `unackedMax`, which alone bounds the work. */
  readonly pullMax?: number
  /**
   * Messages in work at once in this process, where the consumer allows more. A message handed back with a delay counts
   * until the delay is over, unless it makes room for others meanwhile.
   */
  readonly inWorkMax?: number
  readonly delayedMakeRoom?: true
  readonly codec: MessageCodec<A>
  /** Names this consumer in REJECTED and in metrics. */
  readonly origin: string
  readonly handler: (received: Received<A>) => Effect.Effect<AckDecision, never, R>
}

export interface Consumption {
  readonly inFlight: () => number
  /** Changes how many messages the broker delivers unacked, over all replicas. */
  readonly resize: (unackedMax: number) => Effect.Effect<void, BusError>
  /** Stops taking, waits up to `patienceMs` for running handlers, and hands back the rest. */
  readonly drain: (patienceMs: number) => Effect.Effect<{ readonly finished: number; readonly handedBack: number }>
}

/** Drains all of them at once, and adds their reports up. */
export const drainAll = (consumptions: Iterable<Pick<Consumption, "drain">>, patienceMs: number) =>
  Effect.suspend(() =>
    Effect.map(
      Effect.forEach([...consumptions], (one) => one.drain(patienceMs), { concurrency: "unbounded" }),
      (reports) => ({
        finished: reports.reduce((sum, { finished }) => sum + finished, 0),
        handedBack: reports.reduce((sum, { handedBack }) => sum + handedBack, 0)
      })
    )
  )

export const consume = Effect.fnUntraced(function* <A, R>(
  options: ConsumeOptions<A, R>
): Effect.fn.Return<Consumption, BusError, R | Nats | Consumers | Rejections | Metrics | Scope.Scope> {
  const { consumer: declaration, pullMax = declaration.unackedMax, inWorkMax } = options
  const room = inWorkMax === undefined ? undefined : yield* makeRoom(inWorkMax)
  const nats = yield* Nats
  const consumers = yield* Consumers
  const leave: Room["leave"] = (awayMs) => room?.leave(options.delayedMakeRoom === true ? 0 : awayMs)
  const worker = yield* makeWorker(options, leave)
  let current = declaration
  const ensure = Effect.suspend(() => consumers.ensure(current))
  yield* ensure

  const heartbeatMs = declaration.ackWaitMs / 3
  yield* Effect.forkScoped(Effect.repeat(worker.beat(heartbeatMs), Schedule.spaced(heartbeatMs / 2)))
  const lane = nats.share.lane(worker.start)
  const take = room === undefined ? takeAll({ pullMax, onMessage: lane.take }) : takeAsRoomIs(room, lane.take)
  const taking = yield* Effect.forkScoped(takeForEver({ nats, ensure, declaration, take }))

  let draining = false
  const drain = Effect.fnUntraced(function* (patienceMs: number) {
    const before = worker.finished()
    if (!draining) {
      draining = true
      yield* Fiber.interrupt(taking)
    }
    const unstarted = lane.empty()
    for (const message of unstarted) message.nak()
    yield* Effect.timeoutOption(worker.idle, patienceMs)
    const interrupted = yield* worker.interruptAll
    return { finished: worker.finished() - before, handedBack: unstarted.length + interrupted }
  })
  yield* Effect.addFinalizer(() => drain(0))
  const resize = (unackedMax: number) =>
    Effect.suspend(() => {
      current = { ...current, unackedMax }
      return ensure
    })
  return { inFlight: worker.inFlight, resize, drain }
})

interface InWork {
  readonly message: JsMsg
  readonly fiber: Fiber.Fiber<AckDecision>
  aliveAtMs: number
}

// A handler that died will likely die again: do not retry at once, nor so late that a fix goes unnoticed.
const deadHandlerDelayMs = 5_000
// Finished messages remembered per consumer; more than any unacked limit in use.
const ackedRemembered = 2_048

/** The messages in work: each is started once, kept alive, and acked or handed back. */
const makeWorker = Effect.fnUntraced(function* <A, R>(options: ConsumeOptions<A, R>, leave: Room["leave"]) {
  const { consumer, codec, origin, handler } = options
  const { sends } = yield* Nats
  const reject = rejectWith(yield* Rejections, origin)
  const metrics = yield* Metrics
  const clock = yield* Clock.Clock
  const consumed = metrics.counter(busConsumed)
  const redelivered = metrics.counter(busRedelivered)
  const run = Effect.runForkWith(yield* Effect.context<R>())
  const inWork = new Map<MessageKey, InWork>()
  const acked = ackedMessages(ackedRemembered)
  const idle = Latch.makeUnsafe(true)
  const { stream } = consumer
  consumed.begin({ stream })
  redelivered.begin({ stream })
  let finished = 0

  const start = (message: JsMsg) => {
    const { streamSequence, timestampNanos, deliveryCount } = message.info
    const key = messageKey(streamSequence, timestampNanos)
    if (deliveryCount > 1) redelivered.inc({ stream })
    // Covers more than counted redeliveries: a killed broker has forgotten that it ever delivered.
    if (inWork.has(key)) return leave(0)
    if (acked.has(key)) {
      message.ack()
      return leave(0)
    }
    const readHeader = headerReader(message.headers)
    const decoded = codec.decode({ data: message.data, header: readHeader })
    const handled: Effect.Effect<AckDecision, never, R> = Result.isFailure(decoded)
      ? reject(message, decoded.failure)
      : handler({
          value: decoded.success,
          subject: message.subject,
          sequence: streamSequence,
          storedAtMs: timestampNanos / 1e6,
          traceparent: readHeader(header.traceparent)
        })
    const fiber = run(handled)
    inWork.set(key, { message, fiber, aliveAtMs: clock.currentTimeMillisUnsafe() })
    idle.closeUnsafe()
    fiber.addObserver((exit) => finish(key, message, exit))
  }

  const finish = (key: MessageKey, message: JsMsg, exit: Exit.Exit<AckDecision>) => {
    inWork.delete(key)
    const { outcome, awayMs } = endOf(exit)
    if (outcome === "acked") {
      sends.add(() => message.ack())
      acked.add(key)
      finished += 1
    } else message.nak(awayMs)
    if (outcome === "failed" && Exit.isFailure(exit))
      run(Effect.logError("a message handler died", exit.cause).pipe(Effect.annotateLogs({ origin })))
    consumed.inc({ stream, outcome })
    leave(awayMs)
    // Comes last, because a drain resumes within this call: it counts finished messages, and the rest must be acked or
    // handed back.
    if (inWork.size === 0) idle.openUnsafe()
  }

  const interruptAll = Effect.suspend(() => {
    const fibers = Array.from(inWork.values(), ({ fiber }) => fiber)
    return Effect.as(Fiber.interruptAll(fibers), fibers.length)
  })
  const beat = (everyMs: number) =>
    Effect.sync(() => keepAlive(inWork.values(), clock.currentTimeMillisUnsafe(), everyMs))
  return { start, beat, idle: idle.await, interruptAll, inFlight: () => inWork.size, finished: () => finished }
})

interface End {
  readonly outcome: "acked" | "handed_back" | "failed"
  /** How long until the message is delivered again. */
  readonly awayMs: number
}

const endOf = (exit: Exit.Exit<AckDecision>): End => {
  if (Exit.isFailure(exit)) {
    return Cause.hasInterruptsOnly(exit.cause)
      ? { outcome: "handed_back", awayMs: 0 }
      : { outcome: "failed", awayMs: deadHandlerDelayMs }
  }
  const { value } = exit
  return value._tag === "Ack" ? { outcome: "acked", awayMs: 0 } : { outcome: "handed_back", awayMs: value.delayMs }
}

/** Acks the message once it is in REJECTED; hands it back while it cannot be stored there. */
const rejectWith =
  (rejections: Rejections["Service"], origin: string) =>
  ({ subject, seq: sequence, data: payload }: JsMsg, faults: ReadonlyArray<Fault>) =>
    Effect.match(rejections.reject({ origin, subject, sequence, faults, payload }), {
      onSuccess: () => ack,
      onFailure: () => nak(1_000)
    })

const keepAlive = (inWork: Iterable<InWork>, nowMs: number, everyMs: number) => {
  for (const work of inWork) {
    if (nowMs - work.aliveAtMs < everyMs) continue
    work.message.working()
    work.aliveAtMs = nowMs
  }
}

// Short enough that a consumer removed externally is noticed and recreated within seconds.
const pullExpiresMs = 5_000
const heartbeatsMs = 2_500

/** Takes from the consumer until it ends, by itself or with the connection, and reports why. */
type Take = (nats: Nats["Service"], consumer: Consumer) => Effect.Effect<void | Error, BusError>

interface All {
  readonly pullMax: number
  readonly onMessage: (message: JsMsg) => void
}

/** Takes everything the consumer delivers: its limit of unacked messages bounds the work. */
const takeAll =
  ({ pullMax, onMessage }: All): Take =>
  (nats, consumer) =>
    Effect.acquireUseRelease(
      nats.use("consume", () =>
        consumer.consume({
          callback: onMessage,
          max_messages: pullMax,
          expires: pullExpiresMs,
          idle_heartbeat: heartbeatsMs,
          abort_on_missing_resource: true
        })
      ),
      // The broker forgets the pulls of a lost connection; the library would notice only seconds later.
      (messages) =>
        Effect.raceFirst(
          Effect.promise(() => messages.closed()),
          nats.lost
        ),
      (messages) => Effect.sync(() => void messages.close())
    )

// Across accounts of a cluster, a broker keeps serving a pull whose process is gone, and those messages wait out their
// ack wait.
const shortPullMs = 2_000

interface Pull {
  /** Resolves when the broker has ended it. */
  readonly ended: Promise<void>
  readonly close: () => void
  /** What it still delivers is handed back. */
  isLeft: boolean
}

/**
 * While there is room, pulls one message at a time: across accounts an empty message ends the answer that it belongs
 * to, and later messages of its pull would reach no reader until their ack wait is over.
 */
const takeAsRoomIs =
  (room: Room, onMessage: (message: JsMsg) => void): Take =>
  (nats, consumer) => {
    const begin = (messages: ConsumerMessages): Pull => {
      const pull = { ended: Promise.resolve(), close: () => void messages.close(), isLeft: false }
      const handOn = async () => {
        for await (const message of messages) {
          if (pull.isLeft) message.nak()
          else {
            room.enter()
            onMessage(message)
          }
        }
      }
      pull.ended = handOn()
      return pull
    }
    const open = nats
      .use("pull", () => consumer.fetch({ max_messages: 1, expires: shortPullMs, idle_heartbeat: shortPullMs / 2 }))
      .pipe(Effect.map(begin))
    const taken = ({ ended }: Pull) =>
      Effect.tryPromise({ try: () => ended, catch: toBusError("pull") }).pipe(
        Effect.raceFirst(Effect.flatMap(nats.lost, () => connectionLost))
      )
    const leave = (pull: Pull) =>
      Effect.suspend(() => {
        pull.isLeft = true
        const isServedOn = nats.isConnected() && nats.connection.info?.cluster !== undefined
        return isServedOn
          ? Effect.raceFirst(Effect.ignore(Effect.tryPromise(() => pull.ended)), nats.lost)
          : Effect.void
      }).pipe(Effect.ensuring(Effect.sync(pull.close)))
    return Effect.forever(Effect.andThen(room.free, Effect.acquireUseRelease(open, taken, leave)))
  }

const connectionLost = new BusUnavailable({ operation: "pull", detail: "the connection was lost" })

interface Taking {
  readonly nats: Nats["Service"]
  /** Recreates the consumer when it is lost. */
  readonly ensure: Effect.Effect<void, BusError>
  readonly declaration: ConsumerDeclaration
  readonly take: Take
}

const takeForEver = Effect.fnUntraced(function* ({ nats, ensure, declaration, take }: Taking) {
  const { stream, durable } = declaration
  const found = Effect.flatMap(Clock.currentTimeMillis, (sinceMs) =>
    nats
      .use(`consume ${durable}`, ({ jetstream }) => jetstream.consumers.get(stream, durable))
      .pipe(
        Effect.tap(() => Effect.sync(() => nats.outages.worked("consume", stream))),
        Effect.tapError((error) => Effect.sync(() => nats.missed("consume", stream, error, sinceMs)))
      )
  )
  // Ends only by interruption: on any other end, the consumer is ensured and taken from again.
  return yield* found.pipe(
    Effect.flatMap((consumer) => take(nats, consumer)),
    Effect.flatMap((ended) =>
      Effect.logWarning("a consumer ended, taking it up again", ...(ended instanceof Error ? [ended] : []))
    ),
    Effect.catch((error) => Effect.logWarning("cannot consume, trying again", error)),
    Effect.andThen(Effect.sleep("500 millis")),
    Effect.andThen(Effect.ignore(ensure)),
    Effect.annotateLogs({ stream, consumer: durable }),
    Effect.forever
  )
})

/** A message's identity within a stream's life: its sequence and the time it was stored. */
type MessageKey = string

const messageKey = (sequence: number, timestampNanos: number): MessageKey => `${sequence}@${timestampNanos}`

/**
 * The messages that this process finished most recently, from `capacity` to twice as many. A killed broker forgets its
 * last acks and redelivers those messages: they are acked again without being handled twice.
 */
const ackedMessages = (capacity: number) => {
  let recent = new Set<MessageKey>()
  let older = new Set<MessageKey>()
  return {
    add: (key: MessageKey) => {
      recent.add(key)
      if (recent.size < capacity) return
      older = recent
      recent = new Set()
    },
    has: (key: MessageKey) => recent.has(key) || older.has(key)
  }
}
