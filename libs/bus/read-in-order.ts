/**
 * A stream read in order from a sequence on, for ever, into a bounded queue. Read in pulls of a bounded size,
 * the next one when the last is in the queue: a slow reader stops the broker's sending. Whatever breaks the
 * reading, also a message missing in between, fails the queue; who reads on knows from where.
 */
import { AckPolicy, DeliverPolicy, ReplayPolicy } from "@nats-io/jetstream"
import { type Msg, nanos } from "@nats-io/nats-core"
import { Effect, Queue, type Scope } from "effect"
import { type Delivery, deliveryOf } from "./delivery.ts"
import type { BusError } from "./errors.ts"
import { headerReader } from "./message-headers.ts"
import type { Nats } from "./Nats.ts"
import { pulls } from "./pull.ts"

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
  const queue = yield* Queue.bounded<SourceMessage | Extra, BusError>(capacity)
  const consumer = yield* consumerFrom(nats, stream, fromSequence)
  let expected = 1
  const take = (message: Msg) => {
    const delivery = deliveryOf(message.reply ?? "")
    if (delivery?.deliverySequence !== expected) return "a message is missing"
    expected += 1
    Queue.offerUnsafe(queue, sourceOf(nats, message, delivery))
    return undefined
  }
  const pull = yield* pulls(nats, { stream, consumer, take })
  const pump = Effect.gen(function* () {
    while (true) {
      // Room for a whole pull first: its messages then go into the queue as they come.
      while (Queue.sizeUnsafe(queue) > capacity - pullMessages) yield* Effect.sleep(roomLookedForMs)
      yield* pull(pullMessages)
    }
  })
  yield* Effect.forkScoped(Effect.catchCause(pump, (cause) => Queue.failCause(queue, cause)))
  return queue
})

/** The name of one that acks nothing and is gone with the scope. */
const consumerFrom = (nats: Nats["Service"], stream: string, fromSequence: number) =>
  Effect.acquireRelease(
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
    // Not waited for: on a lost connection it would take seconds, and the broker forgets it anyway.
    ({ name }) => Effect.sync(() => void nats.manager.consumers.delete(stream, name).catch(() => {})),
    { interruptible: true }
  ).pipe(Effect.map(({ name }) => name))

const sourceOf = ({ echoes }: Nats["Service"], message: Msg, delivery: Delivery): SourceMessage => ({
  subject: message.subject,
  sequence: delivery.streamSequence,
  storedAtMs: delivery.storedAtMs,
  data: echoes.of(message.subject, message.data),
  // Few who read a message look at its headers.
  header: (name) => headerReader(message.headers)(name)
})
