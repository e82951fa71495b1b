/**
 * The keys of a bucket that fit a pattern, and what stands under them now. A few are read one by one, from the
 * leader: a consumer for them would cost more, and stay with the broker for a while. Many come through a consumer.
 */
import type { Kvm, KvEntry as RawEntry } from "@nats-io/kv"
import { Effect, Option, Stream } from "effect"
import { type BusError, toBusError } from "./errors.ts"
import type { Nats } from "./Nats.ts"

type RawBucket = Awaited<ReturnType<Kvm["open"]>>

// Two rounds of sixteen.
const readsMax = 32
const readsAtOnce = 16
// Entries come faster than they are read, one right after the other: some two milliseconds of reading.
const atOnceMax = 32

/** Lets others have the process' thread now and then: without it, nobody else is heard until a scan has ended. */
const breather = () => {
  let count = 0
  return () => {
    count += 1
    return count % atOnceMax === 0 ? Effect.yieldNow : Effect.void
  }
}

/** Fits every key: nobody counts first what are all. */
const everything = ">"

export const scanBucket = (
  nats: Nats["Service"],
  kv: RawBucket,
  bucket: string,
  keys: string
): Stream.Stream<RawEntry, BusError> => {
  const prefix = `$KV.${bucket}.`
  const operation = `scan ${bucket}/${keys}`

  // A bucket keeps one value a key, so its history is what it holds.
  const consumed = Stream.unwrap(
    Effect.map(
      Effect.acquireRelease(
        nats.use(operation, () => kv.history({ key: keys })),
        (iterator) => Effect.sync(() => iterator.stop())
      ),
      (iterator) => Stream.fromAsyncIterable(iterator, toBusError(operation)).pipe(Stream.tap(breather()))
    )
  )
  if (keys === everything) return consumed

  const read = (subject: string) =>
    Effect.map(
      nats.use(operation, () => kv.get(subject.slice(prefix.length))),
      Option.fromNullishOr
    )
  return Stream.unwrap(
    Effect.gen(function* () {
      const info = yield* nats.use(operation, ({ manager }) =>
        manager.streams.info(`KV_${bucket}`, { subjects_filter: `${prefix}${keys}` })
      )
      const subjects = Object.keys(info.state.subjects ?? {})
      if (subjects.length > readsMax) return consumed
      return Stream.fromIterable(subjects).pipe(
        Stream.mapEffect(read, { concurrency: readsAtOnce }),
        Stream.flatMap((entry) => Stream.fromIterable(Option.toArray(entry)))
      )
    })
  )
}
