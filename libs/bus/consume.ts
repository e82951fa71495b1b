/**
 * Takes messages from a durable consumer and hands each to a handler, as many at once as the consumer
 * allows unacked. Decoding, redelivery, heartbeats, acks and drain are done here:
 * - what fails its schema goes to REJECTED and is acked; it blocks nobody;
 * - a message in work longer than a third of the ack wait is kept alive by a heartbeat;
 * - a message delivered again while we still work on it, or after we finished it, is not handled twice;
 * - a handler that dies is logged at ERROR and its message handed back after a while;
 * - drain stops taking, lets finish what runs, and hands back the rest at once.
 */
import type { ConsumerMessages, JsMsg } from "@nats-io/jetstream"
import { Cause, Clock, Effect, Exit, Fiber, Latch, Result, Schedule, type Scope } from "effect"
import { Metrics } from "#runtime"
import type { ConsumerDeclaration } from "./consumer-declaration.ts"
import { Consumers } from "./Consumers.ts"
import type { BusError } from "./errors.ts"
import type { MessageCodec } from "./message-codec.ts"
import { header, headerReader } from "./message-headers.ts"
import { busConsumed, busRedelivered } from "./metrics.ts"
import { Nats } from "./Nats.ts"
import { Rejections } from "./Rejections.ts"
import { messageKey, type MessageKey, settledMessages } from "./settled-messages.ts"
import { handBack, type Settlement } from "./settlement.ts"

/** A decoded message and what the broker knows of it. Times in epoch milliseconds. */
export interface Received<A> {
  readonly value: A
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  readonly traceparent: string | undefined
}

export interface ConsumeOptions<A, R> {
  readonly consumer: ConsumerDeclaration
  /** Messages asked of the broker at once; what is in work is bounded by `unackedMax` alone. Default the same. */
  readonly pullMax?: number
  readonly codec: MessageCodec<A>
  /** Names this consumer in REJECTED and in metrics. */
  readonly origin: string
  readonly handler: (received: Received<A>) => Effect.Effect<Settlement, never, R>
}

export interface Consumption {
  readonly inFlight: () => number
  /** Stops taking; waits up to `patienceMs` for what runs; hands back the rest. */
  readonly drain: (patienceMs: number) => Effect.Effect<{ readonly finished: number; readonly handedBack: number }>
}

interface InWork {
  readonly message: JsMsg
  readonly fiber: Fiber.Fiber<Settlement>
  aliveAtMs: number
}

// A handler that died will likely die again: not at once, and not so late that a fix goes unnoticed.
const deadHandlerDelayMs = 5_000
// Finished messages remembered per consumer; more than any unacked limit in use.
const settledRemembered = 2_048

export const consume = Effect.fnUntraced(function* <A, R>(
  options: ConsumeOptions<A, R>
): Effect.fn.Return<Consumption, BusError, R | Nats | Consumers | Rejections | Metrics | Scope.Scope> {
  const { consumer: declaration, codec, origin } = options
  const nats = yield* Nats
  const consumers = yield* Consumers
  const rejections = yield* Rejections
  const metrics = yield* Metrics
  const clock = yield* Clock.Clock
  const consumed = metrics.counter(busConsumed)
  const redelivered = metrics.counter(busRedelivered)
  const run = Effect.runForkWith(yield* Effect.context<R>())
  const inWork = new Map<MessageKey, InWork>()
  const settled = settledMessages(settledRemembered)
  const idle = Latch.makeUnsafe(true)
  const stream = declaration.stream
  let draining = false
  let finished = 0

  yield* consumers.ensure(declaration)

  const start = (message: JsMsg) => {
    const { streamSequence, timestampNanos, deliveryCount } = message.info
    const key = messageKey(streamSequence, timestampNanos)
    if (deliveryCount > 1) redelivered.inc({ stream })
    // Not only what counts as redelivered: a killed broker has forgotten that it ever delivered.
    if (alreadyOurs(key, message)) return
    const header_ = headerReader(message.headers)
    const decoded = codec.decode({ data: message.data, header: header_ })
    const handled: Effect.Effect<Settlement, never, R> = Result.isFailure(decoded)
      ? reject(message, decoded.failure)
      : options.handler({
          value: decoded.success,
          subject: message.subject,
          sequence: streamSequence,
          storedAtMs: timestampNanos / 1e6,
          traceparent: header_(header.traceparent)
        })
    const fiber = run(handled)
    inWork.set(key, { message, fiber, aliveAtMs: clock.currentTimeMillisUnsafe() })
    idle.closeUnsafe()
    fiber.addObserver((exit) => settle(key, message, exit))
  }

  const alreadyOurs = (key: MessageKey, message: JsMsg) => {
    if (inWork.has(key)) return true
    if (!settled.has(key)) return false
    message.ack()
    return true
  }

  const reject = (message: JsMsg, faults: Parameters<typeof rejections.reject>[0]["faults"]) =>
    rejections.reject({ origin, subject: message.subject, sequence: message.seq, faults, payload: message.data }).pipe(
      Effect.as<Settlement>({ _tag: "Done" }),
      Effect.orElseSucceed(() => handBack(1_000))
    )

  const settle = (key: MessageKey, message: JsMsg, exit: Exit.Exit<Settlement>) => {
    inWork.delete(key)
    if (Exit.isSuccess(exit) && exit.value._tag === "Done") {
      nats.turn.add(() => message.ack())
      settled.add(key)
      finished += 1
      consumed.inc({ stream, outcome: "acked" })
    } else if (Exit.isSuccess(exit)) {
      message.nak(exit.value._tag === "HandBack" ? exit.value.delayMs : 0)
      consumed.inc({ stream, outcome: "handed_back" })
    } else if (Cause.hasInterruptsOnly(exit.cause)) {
      message.nak()
      consumed.inc({ stream, outcome: "handed_back" })
    } else {
      message.nak(deadHandlerDelayMs)
      consumed.inc({ stream, outcome: "failed" })
      run(Effect.logError("a message handler died", exit.cause).pipe(Effect.annotateLogs({ origin })))
    }
    // Last, for a drain goes on in this very call: it counts what finished, and what it leaves must be settled.
    if (inWork.size === 0) idle.openUnsafe()
  }

  const heartbeatMs = declaration.ackWaitMs / 3
  const beat = Effect.sync(() => {
    const nowMs = clock.currentTimeMillisUnsafe()
    for (const work of inWork.values()) {
      if (nowMs - work.aliveAtMs < heartbeatMs) continue
      work.message.working()
      work.aliveAtMs = nowMs
    }
  })
  yield* Effect.forkScoped(Effect.repeat(beat, Schedule.spaced(heartbeatMs / 2)))

  const lane = nats.share.lane(start)
  const taking = yield* Effect.forkScoped(
    takeForEver(nats, consumers, declaration, options.pullMax ?? declaration.unackedMax, lane.take)
  )

  const drain = Effect.fnUntraced(function* (patienceMs: number) {
    const before = finished
    if (!draining) {
      draining = true
      yield* Fiber.interrupt(taking)
    }
    const unstarted = lane.empty()
    for (const message of unstarted) message.nak()
    yield* Effect.timeoutOption(idle.await, patienceMs)
    const rest = [...inWork.values()]
    yield* Effect.forEach(rest, (work) => Fiber.interrupt(work.fiber), { concurrency: "unbounded", discard: true })
    return { finished: finished - before, handedBack: unstarted.length + rest.length }
  })
  yield* Effect.addFinalizer(() => drain(0))
  return { inFlight: () => inWork.size, drain }
})

// Short enough that a consumer removed behind our back is noticed and made again within seconds.
const pullExpiresMs = 5_000
const heartbeatsMs = 2_500

const takeForEver = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  consumers: Consumers["Service"],
  declaration: ConsumerDeclaration,
  pullMax: number,
  onMessage: (message: JsMsg) => void
) {
  const open = nats.use(`consume ${declaration.durable}`, async ({ jetstream }): Promise<ConsumerMessages> => {
    const consumer = await jetstream.consumers.get(declaration.stream, declaration.durable)
    return consumer.consume({
      callback: onMessage,
      max_messages: pullMax,
      expires: pullExpiresMs,
      idle_heartbeat: heartbeatsMs,
      abort_on_missing_resource: true
    })
  })
  const takeOnce = Effect.acquireUseRelease(
    open,
    // What was asked of a lost connection is forgotten there; the library would notice seconds later.
    (messages) =>
      Effect.raceFirst(
        Effect.promise(() => messages.closed()),
        Effect.as(nats.lost, undefined)
      ),
    (messages) => Effect.sync(() => void messages.close())
  )
  // Ends only by interruption: whatever ended the taking, the consumer is made sure of and taken from again.
  return yield* takeOnce.pipe(
    Effect.flatMap((ended) =>
      Effect.logWarning("a consumer ended, taking it up again", ...(ended === undefined ? [] : [ended]))
    ),
    Effect.catch((error) => Effect.logWarning("cannot consume, trying again", error)),
    Effect.andThen(Effect.sleep("500 millis")),
    Effect.andThen(Effect.ignore(consumers.ensure(declaration))),
    Effect.annotateLogs({ stream: declaration.stream, consumer: declaration.durable }),
    Effect.forever
  )
})
