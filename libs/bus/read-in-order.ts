/**
 * A stream read in order from a sequence on, for ever, into a bounded queue. When the connection breaks
 * the client library takes the reading up where it stopped; no message is skipped and none comes twice.
 * A slow reader stops the broker's sending.
 */
import { DeliverPolicy, type JsMsg } from "@nats-io/jetstream"
import { Effect, Queue, type Scope } from "effect"
import { type BusError, BusUnavailable } from "./errors.ts"
import { headerReader } from "./message-headers.ts"
import type { Nats } from "./Nats.ts"

/** A message of the source stream. Time in epoch milliseconds. */
export interface SourceMessage {
  readonly subject: string
  readonly sequence: number
  readonly storedAtMs: number
  readonly data: Uint8Array
  readonly header: (name: string) => string | undefined
}

// A run ahead of the reader. Of the largest messages that is 64 MiB, of ordinary ones less than one.
const prefetchMessages = 256

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
  const messages = yield* Effect.acquireRelease(
    nats.use(`read ${stream} from ${fromSequence}`, async ({ jetstream }) => {
      const consumer = await jetstream.consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: fromSequence
      })
      return consumer.consume({ max_messages: prefetchMessages, expires: 5_000, idle_heartbeat: 2_500 })
    }),
    (open) => Effect.promise(() => open.close())
  )
  const queue = yield* Queue.bounded<SourceMessage | Extra, BusError>(capacity)
  const iterator = messages[Symbol.asyncIterator]()
  const pump = Effect.gen(function* () {
    while (true) {
      const next = yield* Effect.promise(() => iterator.next())
      if (next.done === true) {
        return yield* new BusUnavailable({ operation: `read ${stream}`, detail: "the reading ended" })
      }
      yield* Queue.offer(queue, toSourceMessage(next.value))
    }
  })
  yield* Effect.forkScoped(Effect.catchCause(pump, (cause) => Queue.failCause(queue, cause)))
  return queue
})

const toSourceMessage = (message: JsMsg): SourceMessage => ({
  subject: message.subject,
  sequence: message.seq,
  storedAtMs: message.info.timestampNanos / 1e6,
  data: message.data,
  header: headerReader(message.headers)
})
