/**
 * The changes of a bucket from a revision on, in order and in runs: a bucket that thousands of rows a second are written
 * to is followed so. A value that this process wrote itself is not read again. Of a key that changed more than once
 * before it was read, only the last change is told: a bucket keeps no more.
 */
import { Effect, Option, Result, Stream } from "effect"
import type { BusError } from "./errors.ts"
import type { KvChange } from "./Kv.ts"
import type { MessageCodec } from "./message-codec.ts"
import type { Nats } from "./Nats.ts"
import { readInOrder, type SourceMessage } from "./read-in-order.ts"
import { type RunOptions, takeRun } from "./take-run.ts"

// Beside the run itself.
const capacity = 512

/** `codec` may know what this process wrote. */
export const followBucket = <A>(
  nats: Nats["Service"],
  bucket: string,
  codec: MessageCodec<A>,
  fromRevision: number,
  run: RunOptions
): Stream.Stream<ReadonlyArray<KvChange<A>>, BusError> =>
  Stream.unwrap(
    Effect.map(readInOrder(nats, `KV_${bucket}`, Math.max(1, fromRevision), capacity + run.messagesMax), (queue) =>
      Stream.fromEffectRepeat(
        Effect.flatMap(takeRun(queue, run), (messages) => changesOf(messages, `$KV.${bucket}.`.length, codec))
      )
    )
  )

const changesOf = Effect.fnUntraced(function* <A>(
  messages: ReadonlyArray<SourceMessage>,
  keyFrom: number,
  codec: MessageCodec<A>
) {
  const changes: Array<KvChange<A>> = []
  for (const message of messages) {
    const key = message.subject.slice(keyFrom)
    const { sequence: revision, data } = message
    // A key that was removed, or whose time was over, leaves a note without a value.
    const decoded = data.length === 0 ? undefined : codec.decode(message)
    if (decoded !== undefined && Result.isSuccess(decoded)) {
      changes.push({ key, revision, entry: Option.some({ key, value: decoded.success, revision }) })
      continue
    }
    if (decoded !== undefined) {
      yield* Effect.logError("a stored value is broken").pipe(Effect.annotateLogs({ key, faults: decoded.failure }))
    }
    changes.push({ key, revision, entry: Option.none() })
  }
  return changes
})
