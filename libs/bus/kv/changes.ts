/** Reads several keys of a bucket: a scan of those that match a pattern, and the changes since a revision. */
import { Effect, Option, Result, Stream } from "effect"
import type { Fault } from "#base"
import type { Nats } from "../connection/connection.ts"
import type { BusError } from "../errors.ts"
import { header, type MessageCodec } from "../message.ts"
import { type BatchOptions, readInOrder, takeBatch } from "../ordered-reader.ts"
import { type SourceMessage, storedOn } from "../pages.ts"
import type { KvChange } from "./bucket.ts"

// Two rounds of sixteen.
const readsMax = 32
const readsAtOnce = 16

// A page's entries arrive together: this many take about two milliseconds.
const atOnceMax = 32

/** Yields the thread now and then: otherwise nothing else would run until a page ends. */
const breather = () => {
  let count = 0
  return () => {
    count += 1
    return count % atOnceMax === 0 ? Effect.yieldNow : Effect.void
  }
}

/** Matches every key, so counting first is unnecessary. */
const everything = ">"

/**
 * The last messages of the keys that match a pattern, including those that record a removal. A few are read one by one,
 * from the leader. Many are read in pages, from any replica: a bucket keeps one message per key, so reading it from
 * beginning to end gives its content.
 */
export const scanBucket = (
  nats: Nats["Service"],
  bucket: string,
  keys: string
): Stream.Stream<SourceMessage, BusError> => {
  const subject = `$KV.${bucket}.${keys}`
  const pages = storedOn(nats, `KV_${bucket}`, subject).pipe(Stream.tap(breather()))
  if (keys === everything) return pages

  return Stream.unwrap(
    Effect.gen(function* () {
      const subjects = yield* storedSubjects(nats, bucket, keys)
      if (subjects.length > readsMax) return pages
      return Stream.fromIterable(subjects).pipe(
        Stream.mapEffect((each) => nats.last(`KV_${bucket}`, each), { concurrency: readsAtOnce }),
        Stream.flatMap((message) => Stream.fromIterable(Option.toArray(message)))
      )
    })
  )
}

/** The subjects of a bucket's keys that match a pattern, including removed keys. */
export const storedSubjects = (nats: Nats["Service"], bucket: string, keys: string) =>
  nats
    .use(`list ${bucket}/${keys}`, ({ manager }) =>
      manager.streams.info(`KV_${bucket}`, { subjects_filter: `$KV.${bucket}.${keys}` })
    )
    .pipe(Effect.map((info) => Object.keys(info.state.subjects ?? {})))

// Room beside the run itself.
const capacity = 512

/**
 * The changes since a revision, in order and in runs. When a key changed more than once before it was read, or within a
 * run, only the last change is given, because a bucket keeps no more. `codec` can recognize what this process wrote.
 */
export const followBucket = <A>(
  nats: Nats["Service"],
  bucket: string,
  codec: MessageCodec<A>,
  fromRevision: number,
  run: BatchOptions
): Stream.Stream<ReadonlyArray<KvChange<A>>, BusError> =>
  Stream.unwrap(
    Effect.map(
      readInOrder(nats, `KV_${bucket}`, Math.max(1, fromRevision), { ...run, capacity: capacity + run.messagesMax }),
      (queue) =>
        Stream.fromEffectRepeat(Effect.flatMap(takeBatch(queue, run), (messages) => changesOf(messages, bucket, codec)))
    )
  )

// Headers of the marker that replaces a key: removed by us, or expired by the broker.
const removals = ["KV-Operation", "Nats-Marker-Reason"] as const

/** Whatever a marker holds: a trial of the broker is a marker with bytes in it. */
export const isRemoval = ({ data, header: read }: SourceMessage): boolean =>
  data.length === 0 || removals.some((name) => read(name) !== undefined)

/**
 * Whether a record is the broker's answer to a read of another stream that a client redirected here: none of our
 * writers sets this header. Such a record counts as absent.
 */
export const isForged = (subject: string, message: Pick<SourceMessage, "header">): Effect.Effect<boolean> => {
  const source = message.header(header.source)
  if (source === undefined) return Effect.succeed(false)
  const said = Effect.logError("a record was not written, but copied by the broker from another stream: it is ignored")
  return Effect.as(Effect.annotateLogs(said, { subject, source }), true)
}

interface Position {
  readonly bucket: string
  readonly key: string
  readonly revision: number
}

/** A fault's message can quote the value, which can be a secret; its path does not. */
export const sayBroken = (place: Position, faults: ReadonlyArray<Fault>): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logWarning("a stored value is broken: it is left out"), {
    ...place,
    paths: faults.map(({ path }) => path)
  })

const changesOf = Effect.fnUntraced(function* <A>(
  messages: ReadonlyArray<SourceMessage>,
  bucket: string,
  codec: MessageCodec<A>
) {
  const keyFrom = `$KV.${bucket}.`.length
  const changes: Array<KvChange<A>> = []
  // Only a key's last change in a run counts; the others need not be decoded.
  const last = new Map(messages.map((message) => [message.subject, message]))
  for (const message of messages) {
    if (last.get(message.subject) !== message) continue
    const key = message.subject.slice(keyFrom)
    const { sequence: revision } = message
    const isAbsent = isRemoval(message) || (yield* isForged(message.subject, message))
    const decoded = isAbsent ? undefined : codec.decode(message)
    if (decoded !== undefined && Result.isSuccess(decoded)) {
      changes.push({ key, revision, entry: Option.some({ key, value: decoded.success, revision }) })
      continue
    }
    if (decoded !== undefined) yield* sayBroken({ bucket, key, revision }, decoded.failure)
    changes.push({ key, revision, entry: Option.none() })
  }
  return changes
})
