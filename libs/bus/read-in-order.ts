/**
 * A stream read in order from a sequence on, for ever, into a bounded queue. Read in pulls of a bounded size,
 * the next one when the last is in the queue: a slow reader stops the broker's sending. Whatever breaks the
 * reading, also a message missing in between, fails the queue; who reads on knows from where.
 */
import { AckPolicy, type Consumer, DeliverPolicy, type JsMsg, ReplayPolicy } from "@nats-io/jetstream"
import { nanos } from "@nats-io/nats-core"
import { Effect, Queue, type Scope } from "effect"
import { type BusError, BusUnavailable, toBusError } from "./errors.ts"
import { headerReader } from "./message-headers.ts"
import type { Nats } from "./Nats.ts"

/** A message of the source stream. Time in epoch milliseconds. */
export interface SourceMessage {
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  /** The very object that was written, where this process wrote it as one that is read back. */
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
}

// One pull. Of the largest messages that is 64 MiB, of ordinary ones less than one.
const pullMessages = 256
// A quiet pull is renewed after so long; a broken connection is noticed within two heartbeats.
const pullExpiresMs = 5_000
const heartbeatsMs = 2_500
// Only while the reader is slow: a pull's worth of events takes it some 20 ms.
const roomLookedForMs = 2
// A consumer whose reader died is removed by the broker.
const forgottenAfterMs = 30_000

/**
 * Messages from `fromSequence` on. The queue fails when reading cannot go on and must be begun again. `Extra`
 * is what the reader itself may put between the messages.
 */
export const readInOrder = Effect.fnUntraced(function* <Extra = never>(
  nats: Nats["Service"],
  stream: string,
  fromSequence: number,
  capacity: number
): Effect.fn.Return<Queue.Queue<SourceMessage | Extra, BusError>, BusError, Scope.Scope> {
  const consumer = yield* Effect.acquireRelease(
    nats.use(`read ${stream} from ${fromSequence}`, async ({ manager, jetstream }) => {
      const { name } = await manager.consumers.add(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: fromSequence,
        ack_policy: AckPolicy.None,
        replay_policy: ReplayPolicy.Instant,
        inactive_threshold: nanos(forgottenAfterMs),
        mem_storage: true,
        num_replicas: 1
      })
      return jetstream.consumers.get(stream, name)
    }),
    // Not waited for: on a lost connection it would take seconds, and the broker forgets it anyway.
    (open) => Effect.sync(() => void open.delete().catch(() => {})),
    { interruptible: true }
  )
  const queue = yield* Queue.bounded<SourceMessage | Extra, BusError>(capacity)
  const order = { next: 1 }
  const pump = Effect.gen(function* () {
    while (true) {
      // Room for a whole pull first: its messages then go into the queue as they come.
      while (Queue.sizeUnsafe(queue) > capacity - pullMessages) yield* Effect.sleep(roomLookedForMs)
      yield* Effect.scoped(pull(nats, consumer, stream, order, (message) => Queue.offerUnsafe(queue, message)))
    }
  })
  yield* Effect.forkScoped(Effect.catchCause(pump, (cause) => Queue.failCause(queue, cause)))
  return queue
})

/** One pull, to its end. A plain loop, because every event comes through here. */
const pull = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  consumer: Consumer,
  stream: string,
  order: { next: number },
  take: (message: SourceMessage) => void
) {
  const options = { max_messages: pullMessages, expires: pullExpiresMs, idle_heartbeat: heartbeatsMs }
  const [, iterator] = yield* Effect.acquireRelease(
    nats.use(`read ${stream}`, async () => {
      const messages = await consumer.fetch(options)
      return [messages, messages[Symbol.asyncIterator]()] as const
    }),
    // The library closes only once its iterator is read up to the end. Nobody reads on, so the iterator is
    // told to end as well, and what is still in it is not waited for.
    ([messages, iterating]) =>
      Effect.sync(() => {
        void messages.close()
        void iterating.return?.()
      }),
    { interruptible: true }
  )
  const read = async () => {
    for (let step = await iterator.next(); step.done !== true; step = await iterator.next()) {
      if (step.value.info.deliverySequence !== order.next) return "a message is missing"
      order.next += 1
      take(toSourceMessage(nats, step.value))
    }
    return undefined
  }
  const fault = yield* Effect.tryPromise({ try: read, catch: toBusError(`read ${stream}`) }).pipe(
    Effect.raceFirst(Effect.as(nats.lost, "the connection was lost"))
  )
  if (fault !== undefined) return yield* broken(stream, fault)
})

const broken = (stream: string, detail: string) => new BusUnavailable({ operation: `read ${stream}`, detail })

const toSourceMessage = ({ echoes }: Nats["Service"], message: JsMsg): SourceMessage => ({
  subject: message.subject,
  sequence: message.seq,
  storedAtMs: message.info.timestampNanos / 1e6,
  data: echoes.of(message.subject, message.data),
  // Few who read a message look at its headers.
  header: (name) => headerReader(message.headers)(name)
})
