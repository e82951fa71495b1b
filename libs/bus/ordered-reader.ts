/**
 * Reads a stream in order from a sequence on, for ever, into a bounded queue. It reads in pulls of a bounded size, the
 * next one when the last is in the queue, so that a slow reader stops the broker's sending. Any break, including a
 * missing message, fails the queue; the reader knows where to go on.
 */
import { AckPolicy, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { createInbox, type Msg, nanos, type NatsConnection } from "@nats-io/nats-core"
import { Clock, Deferred, Effect, Queue, type Scope } from "effect"
import type { Nats } from "./connection/connection.ts"
import { type BusError, BusUnavailable, toBusError } from "./errors.ts"
import { headerReader } from "./message.ts"

/** A message of the source stream. Time in epoch milliseconds. */
export interface SourceMessage {
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  /** The very object that was written, if this process wrote it as one that is read back. */
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
}

// The size of one pull. Of the largest messages that is 64 MiB, of ordinary ones less than one.
const pullMessages = 256
// Used only while the reader is slow: a pull's worth of events takes it some 20 ms.
const roomLookedForMs = 2
// A consumer whose reader died is removed by the broker.
const forgottenAfterMs = 30_000

interface ReadingOptions extends Pick<BatchOptions, "restMs"> {
  /** Of the queue. */
  readonly capacity: number
}

/**
 * Messages from `fromSequence` on. The queue fails when reading cannot go on and must begin again. `Extra`: values that
 * the reader itself may put between the messages.
 */
export const readInOrder = Effect.fnUntraced(function* <Extra = never>(
  nats: Nats["Service"],
  stream: string,
  fromSequence: number,
  { capacity, restMs = 0 }: ReadingOptions
): Effect.fn.Return<Queue.Queue<SourceMessage | Extra, BusError>, BusError, Scope.Scope> {
  const queue = yield* Queue.bounded<SourceMessage | Extra, BusError>(capacity)
  const consumer = yield* consumerFrom(nats, stream, fromSequence)
  let expected = 1
  let pending = 0
  const take = (message: Msg) => {
    const delivery = deliveryOf(message.reply ?? "")
    if (delivery?.deliverySequence !== expected) return "a message is missing"
    expected += 1
    pending = delivery.pending
    Queue.offerUnsafe(queue, sourceOf(nats, message, delivery))
    return undefined
  }
  const pull = yield* pulls(nats, { stream, consumer, take })
  const pump = Effect.gen(function* () {
    while (true) {
      // Waits for room for a whole pull first: its messages then go into the queue as they come.
      while (Queue.sizeUnsafe(queue) > capacity - pullMessages) yield* Effect.sleep(roomLookedForMs)
      yield* pull(pullMessages)
      if (restMs > 0 && pending < pullMessages) yield* Effect.sleep(restMs)
    }
  })
  yield* Effect.forkScoped(Effect.catchCause(pump, (cause) => Queue.failCause(queue, cause)))
  return queue
})

/** Creates a consumer that acks nothing and is gone with the scope; returns its name. */
const consumerFrom = Effect.fnUntraced(function* (nats: Nats["Service"], stream: string, fromSequence: number) {
  const sinceMs = yield* Clock.currentTimeMillis
  const { name } = yield* Effect.acquireRelease(
    nats.use(`read ${stream} from ${fromSequence}`, ({ manager }) =>
      manager.consumers.add(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: fromSequence,
        ack_policy: AckPolicy.None,
        replay_policy: ReplayPolicy.Instant,
        inactive_threshold: nanos(forgottenAfterMs),
        mem_storage: true,
        num_replicas: 1
      })
    ),
    // Not awaited: on a lost connection it would take seconds, and the broker removes it anyway.
    ({ name }) => Effect.sync(() => void nats.manager.consumers.delete(stream, name).catch(() => {})),
    { interruptible: true }
  ).pipe(Effect.tapError((error) => Effect.sync(() => nats.missed("read", stream, error, sinceMs))))
  nats.outages.worked("read", stream)
  return name
})

const sourceOf = ({ cache }: Nats["Service"], message: Msg, delivery: Delivery): SourceMessage => ({
  subject: message.subject,
  sequence: delivery.streamSequence,
  storedAtMs: delivery.storedAtMs,
  data: cache.intern(message.subject, message.data),
  // Decoded on demand, for few readers look at headers.
  header: (name) => headerReader(message.headers)(name)
})

interface Pulled {
  readonly stream: string
  readonly consumer: string
  /** Called with every message in its turn; a returned text is a fault that ends the reading. It must not throw. */
  readonly take: (message: Msg) => string | undefined
}

// A quiet pull is renewed after so long; a broken connection is noticed within two heartbeats.
const expiresMs = 5_000
const heartbeatsMs = 2_500
const silentHeartbeatsMax = 2
// The broker's status codes on a pull, in place of a message.
const status = { heartbeat: 100, nothingThere: 404, timeIsOver: 408 } as const

interface Running {
  left: number
  /** Completed with the fault, if there was one. */
  readonly over: Deferred.Deferred<string | undefined>
}

/**
 * Returns a function that runs one pull of that many messages to its end; call it one pull after the other, in the same
 * scope. A plain callback takes the messages: the client library's iterator costs more than the message. Anything from
 * the broker but the end of the pull, silence included, is a fault.
 */
const pulls = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  { stream, consumer, take }: Pulled
): Effect.fn.Return<(messagesMax: number) => Effect.Effect<void, BusError>, never, Scope.Scope> {
  const { connection } = nats
  const operation = `read ${stream}`
  const inbox = createInbox(nats.inboxes)
  let running: Running | undefined
  let isHeard = false
  let asked = 0

  const end = (fault?: string) => {
    const ended = running
    // Cleared before the reader hears of it, for it may start the next pull right then.
    running = undefined
    if (ended !== undefined) Deferred.doneUnsafe(ended.over, Effect.succeed(fault))
  }
  const takeStatus = (message: Msg) => {
    const { code = 0, description = "" } = message.headers ?? {}
    // From an earlier pull, which is over already.
    if (message.subject !== `${inbox}.${asked}` || code === status.heartbeat) return
    end(code === status.nothingThere || code === status.timeIsOver ? undefined : `${code} ${description}`)
  }
  const receive = (error: Error | null, message: Msg) => {
    isHeard = true
    if (error !== null) return end(error.message)
    if (message.subject.startsWith(inbox)) return takeStatus(message)
    const fault = take(message)
    if (fault !== undefined) return end(fault)
    if (running !== undefined && --running.left <= 0) end()
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => connection.subscribe(`${inbox}.*`, { callback: receive })),
    (subscription) => Effect.sync(() => subscription.unsubscribe())
  )

  const begin = (messagesMax: number) => {
    const over = Deferred.makeUnsafe<string | undefined>()
    running = { left: messagesMax, over }
    // No answer would come, and no error either.
    if (!nats.isConnected()) {
      end("not connected to the broker")
      return over
    }
    asked += 1
    ask(connection, `$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, `${inbox}.${asked}`, messagesMax)
    return over
  }
  const silence = Effect.gen(function* () {
    for (let silent = 0; silent < silentHeartbeatsMax; silent = isHeard ? 0 : silent + 1) {
      isHeard = false
      yield* Effect.sleep(heartbeatsMs)
    }
    return "heartbeats missed"
  })
  const lost = Effect.as(nats.lost, "the connection was lost")
  return (messagesMax) =>
    Effect.try({ try: () => begin(messagesMax), catch: toBusError(operation) }).pipe(
      Effect.flatMap((over) => Deferred.await(over)),
      Effect.raceFirst(silence),
      Effect.raceFirst(lost),
      Effect.flatMap((fault) => (fault === undefined ? Effect.void : new BusUnavailable({ operation, detail: fault })))
    )
})

const utf8 = new TextEncoder()

const ask = (connection: NatsConnection, subject: string, reply: string, batch: number) => {
  const pull = { batch, expires: nanos(expiresMs), idle_heartbeat: nanos(heartbeatsMs) }
  connection.publish(subject, utf8.encode(JSON.stringify(pull)), { reply })
}

interface Delivery {
  readonly streamSequence: number
  /** Counts the deliveries of the consumer, without a gap. */
  readonly deliverySequence: number
  readonly storedAtMs: number
  /** How many more the consumer has. */
  readonly pending: number
}

// `$JS.ACK.<stream>.<consumer>.<times>.<stream sequence>.<delivery sequence>.<nanoseconds>.<pending>`; since 2.15 with
// domain and account before the stream.
const tokensOfOld = 9
const tokensBefore = 2

/**
 * A message's place in its stream and in its consumer, from the subject that it is acked on. Undefined for a message
 * without a consumer. Read by hand: the client library's parser costs more than the message.
 */
export const deliveryOf = (ackSubject: string): Delivery | undefined => {
  if (!ackSubject.startsWith("$JS.ACK.")) return undefined
  const tokens = ackSubject.split(".")
  if (tokens.length < tokensOfOld) return undefined
  const first = tokens.length === tokensOfOld ? 0 : tokensBefore
  const streamSequence = Number(tokens[first + 5])
  const deliverySequence = Number(tokens[first + 6])
  const storedAtMs = Number(tokens[first + 7]) / 1e6
  const pending = Number(tokens[first + 8])
  return streamSequence > 0 && deliverySequence > 0 && storedAtMs >= 0 && pending >= 0
    ? { streamSequence, deliverySequence, storedAtMs, pending }
    : undefined
}

/**
 * A run: the messages that come within a moment, taken together, because a stream of single messages costs more than
 * the work.
 */
export interface BatchOptions {
  readonly messagesMax: number
  /** How long the first message waits for others. */
  readonly withinMs: number
  /** Between two pulls, once there is less to read than a pull. What the stream replaces meanwhile is not sent. */
  readonly restMs?: number
}

export const takeBatch = Effect.fnUntraced(function* <A>(
  queue: Queue.Queue<A, BusError>,
  { messagesMax, withinMs }: BatchOptions
): Effect.fn.Return<ReadonlyArray<A>, BusError> {
  const first = yield* Queue.takeBetween(queue, 1, messagesMax)
  if (first.length >= messagesMax) return first
  yield* Effect.sleep(withinMs)
  if (Queue.sizeUnsafe(queue) === 0) return first
  return [...first, ...(yield* Queue.takeBetween(queue, 1, messagesMax - first.length))]
})
