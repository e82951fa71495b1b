/**
 * A stream read in order from a sequence on, for ever, into a bounded queue. When the connection breaks
 * the client library takes the reading up where it stopped; no message is skipped and none comes twice.
 * Memory is bounded by bytes here, not by messages: a slow reader stops the broker's sending.
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

// Some thousand ordinary messages ahead of the reader, and a bound on memory for the largest ones.
const prefetchBytes = 4 * 1_024 * 1_024

/** Messages from `fromSequence` on. The queue fails when reading cannot go on and must be begun again. */
export const readInOrder = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  stream: string,
  fromSequence: number,
  capacity: number
): Effect.fn.Return<Queue.Dequeue<SourceMessage, BusError>, BusError, Scope.Scope> {
  const messages = yield* Effect.acquireRelease(
    nats.use(`read ${stream} from ${fromSequence}`, async ({ jetstream }) => {
      const consumer = await jetstream.consumers.get(stream, {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: fromSequence
      })
      return consumer.consume({ max_bytes: prefetchBytes, expires: 5_000, idle_heartbeat: 2_500 })
    }),
    (open) => Effect.promise(() => open.close())
  )
  const queue = yield* Queue.bounded<SourceMessage, BusError>(capacity)
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
