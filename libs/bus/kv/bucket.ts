/**
 * Key-value buckets, typed by schema, changed by compare-and-set. Reads go to the leader where the topology demands it;
 * a watch or scan reports a value that does not fit its schema and treats it as absent.
 */
import { Kvm } from "@nats-io/kv"
import { Context, Effect, Layer, Option, Result, type Schema, Stream } from "effect"
import type { Fault } from "#base"
import { type BusError, BusRefused } from "../errors.ts"
import { followBucket, isForged, isRemoval, sayBroken, scanBucket, storedSubjects } from "./changes.ts"
import { header, jsonCodec, type MessageCodec, toHeaders } from "../message.ts"
import { Nats } from "../connection/connection.ts"
import type { BatchOptions } from "../ordered-reader.ts"
import type { SourceMessage } from "../pages.ts"
import { topology } from "../topology/topology.ts"

/** A value and the revision that a later change must name. */
export interface KvEntry<A> {
  readonly key: string
  readonly value: A
  readonly revision: number
}

/**
 * A change delivered by a watch: the new entry, or nothing for a removed key. `initial`: state from before the watch
 * began.
 */
export interface KvChange<A> {
  readonly key: string
  /** The revision of this change, also for a removal. */
  readonly revision: number
  readonly entry: Option.Option<KvEntry<A>>
}

export interface KvBucket<A> {
  readonly get: (key: string) => Effect.Effect<Option.Option<KvEntry<A>>, BusError>
  /**
   * Fails with `RevisionConflict` when the key exists. Returns the revision. With `ttlMs`, in a bucket with per-key
   * time to live, the key expires after that time by the broker's clock, rounded up to whole seconds.
   */
  readonly create: (key: string, value: A, ttlMs?: number) => Effect.Effect<number, BusError>
  /**
   * Fails with `RevisionConflict` when `revision` is no longer the latest; 0: when the key exists or ever existed.
   * Omitting `ttlMs` clears an earlier time to live.
   */
  readonly update: (key: string, value: A, revision: number, ttlMs?: number) => Effect.Effect<number, BusError>
  readonly remove: (key: string, revision: number) => Effect.Effect<void, BusError>
  /** The revision of a present value that does not fit the schema; pass it to `remove`. */
  readonly broken: (key: string) => Effect.Effect<Option.Option<number>, BusError>
  /** Like `remove`, but no trace of the key is left after an hour. For a bucket with `keyTtl`. */
  readonly erase: (key: string, revision: number) => Effect.Effect<void, BusError>
  /** The present entries whose keys match, `workspace.>` for example, excluding values that do not fit the schema. */
  readonly scan: (keys: string) => Stream.Stream<KvEntry<A>, BusError>
  /** All present entries, at most 20,000, excluding values that do not fit the schema. */
  readonly entries: Effect.Effect<ReadonlyArray<KvEntry<A>>, BusError>
  /** The present state, then every change. Fails when watching cannot continue. */
  readonly changes: Stream.Stream<KvChange<A>, BusError>
  /**
   * The changes since a revision, then every later one, in runs; from 1 on it begins with the present state. Fails when
   * it cannot continue.
   */
  readonly changesInBatches: (
    fromRevision: number,
    run: BatchOptions
  ) => Stream.Stream<ReadonlyArray<KvChange<A>>, BusError>
}

export class Kv extends Context.Service<
  Kv,
  {
    readonly open: <A>(bucket: string, schema: Schema.Codec<A, A>) => Effect.Effect<KvBucket<A>, BusError>
  }
>()("starling/bus/Kv") {
  static readonly layer = Layer.effect(
    Kv,
    Effect.gen(function* () {
      const nats = yield* Nats
      const manager = new Kvm(nats.connection)
      const written: Written = { values: new WeakMap(), followed: new Set() }
      const open = Effect.fn("Kv.open")(function* <A>(bucket: string, schema: Schema.Codec<A, A>) {
        const kv = yield* nats.use(`open bucket ${bucket}`, () => manager.open(bucket))
        const codec = knowing(written, schema)
        return makeBucket({ nats, kv, bucket, codec, followed: written.followed, reported: new Map() })
      })
      return Kv.of({ open })
    })
  )
}

// A bucket has one key per endpoint, item or lease holder; more than this is a bug.
const entriesMax = 20_000

// A few changes a second: none waits for another.
const changesRun: BatchOptions = { messagesMax: 256, withinMs: 1 }

// Longer than any reader relies on a value it has read.
const goneKnownFor = "1h"

const leaderRead = new Set(topology.buckets.flatMap(({ name, leaderReads }) => (leaderReads ? [name] : [])))

type RawBucket = Awaited<ReturnType<Kvm["open"]>>

/** Values written to buckets that this process follows, by the object that holds their bytes. */
interface Written {
  readonly values: WeakMap<Uint8Array, { readonly schema: unknown; readonly value: unknown }>
  readonly followed: Set<string>
}

/** Skips decoding of values that were written by the same schema. */
const knowing = <A>({ values }: Written, schema: Schema.Codec<A, A>): MessageCodec<A> => {
  const codec = jsonCodec(schema)
  return {
    encode: (value) => {
      const encoded = codec.encode(value)
      values.set(encoded.data, { schema, value })
      return encoded
    },
    decode: (message) => {
      const known = values.get(message.data)
      // The same schema, so the same type.
      return known?.schema === schema ? Result.succeed(known.value as A) : codec.decode(message)
    }
  }
}

interface Opened<A> {
  readonly nats: Nats["Service"]
  readonly kv: RawBucket
  readonly bucket: string
  readonly codec: MessageCodec<A>
  readonly followed: Set<string>
  /** Broken records already reported: the last reported revision, by key. */
  readonly reported: Map<string, number>
}

/** A stored value. */
type Stored = Pick<KvEntry<Uint8Array>, "key" | "value" | "revision">

const makeBucket = <A>(opened: Opened<A>): KvBucket<A> => {
  const { nats, kv, bucket, codec, followed } = opened
  const { get, broken, entries } = reads(opened)
  const { create, write } = writes(opened)
  return {
    get,
    broken,
    entries,
    // The client library's own watch takes more than a minute to recover after its bucket is recreated.
    changes: followBucket(nats, bucket, codec, 1, changesRun).pipe(Stream.flattenIterable),
    changesInBatches: (fromRevision, run) =>
      Stream.suspend(() => {
        followed.add(bucket)
        return followBucket(nats, bucket, codec, fromRevision, run)
      }),
    create,
    update: (key, value, revision, ttlMs) => write({ verb: "update", key, value, revision, ttlMs }),
    remove: (key, revision) => nats.use(`remove ${bucket}/${key}`, () => kv.delete(key, { previousSeq: revision })),
    erase: (key, revision) =>
      nats.use(`erase ${bucket}/${key}`, () => kv.purge(key, { previousSeq: revision, ttl: goneKnownFor })),
    scan: (keys) =>
      scanBucket(nats, bucket, keys).pipe(
        Stream.mapEffect((message) => toPresent(opened, message)),
        Stream.flatMap((entry) => Stream.fromIterable(Option.toArray(entry)))
      )
  }
}

const prefixOf = (bucket: string) => `$KV.${bucket}.`

const reads = <A>(opened: Opened<A>) => {
  const { nats, kv, bucket, followed } = opened
  const prefixLength = prefixOf(bucket).length

  const get = Effect.fnUntraced(function* (key: string) {
    const stored = Option.getOrUndefined(yield* read(key))
    return stored === undefined ? Option.none<KvEntry<A>>() : Option.some(yield* toEntry(opened, stored))
  })

  const broken = Effect.fnUntraced(function* (key: string) {
    return Option.flatMap(yield* read(key), (stored) =>
      Result.isFailure(decoded(opened, stored)) ? Option.some(stored.revision) : Option.none<number>()
    )
  })

  const entries = Effect.gen(function* () {
    const subjects = (yield* storedSubjects(nats, bucket, ">")).slice(0, entriesMax)
    const present = (subject: string) =>
      Effect.flatMap(
        read(subject.slice(prefixLength)),
        Option.match({ onNone: () => Effect.succeedNone, onSome: (stored) => readable(opened, stored) })
      )
    return (yield* Effect.forEach(subjects, present, { concurrency: 16 })).flatMap(Option.toArray)
  })

  /** The request joins the turn's single write, and a missing key creates no client library error object. */
  const readFromLeader = Effect.fnUntraced(function* (key: string) {
    const subject = prefixOf(bucket) + key
    const last = Option.getOrUndefined(yield* nats.last(`KV_${bucket}`, subject))
    if (last === undefined || isRemoval(last) || (yield* isForged(subject, last))) return Option.none<Stored>()
    const value = followed.has(bucket) ? nats.cache.intern(subject, last.data) : last.data
    return Option.some<Stored>({ key, value, revision: last.sequence })
  })

  const readAnywhere = Effect.fn("Kv.get")(function* (key: string) {
    const raw = yield* nats.use(`read ${bucket}/${key}`, () => kv.get(key))
    return raw === null || raw.operation !== "PUT" ? Option.none<Stored>() : Option.some<Stored>(raw)
  })
  const read = leaderRead.has(bucket) ? readFromLeader : readAnywhere
  return { get, broken, entries }
}

interface Write<A> {
  readonly verb: string
  readonly key: string
  readonly value: A
  /** The latest revision that the key can have; 0: none. */
  readonly revision: number
  readonly ttlMs: number | undefined
}

/** The writes bypass the key-value client, which cannot give a changed key a time to live. */
const writes = <A>({ nats, bucket, codec, followed }: Opened<A>) => {
  const write = ({ verb, key, value, revision, ttlMs }: Write<A>) => {
    const ttl = ttlMs === undefined ? [] : [[header.ttl, `${Math.max(1, Math.ceil(ttlMs / 1_000))}s`] as const]
    const headers = toHeaders([...ttl, [header.expectedLastSubjectSequence, String(revision)]])
    const message = { subject: prefixOf(bucket) + key, data: codec.encode(value).data, headers }
    if (followed.has(bucket)) nats.cache.put(message.subject, message.data)
    return Effect.map(nats.write(`${verb} ${bucket}/${key}`, message), ({ sequence }) => sequence)
  }
  // The marker of a removed key still counts as its last revision.
  const create = (key: string, value: A, ttlMs?: number) => {
    const first = { verb: "create", key, value, revision: 0, ttlMs }
    return Effect.catchTag(write(first), "RevisionConflict", (conflict) =>
      Effect.flatMap(nats.last(`KV_${bucket}`, prefixOf(bucket) + key), (last) =>
        Option.isSome(last) && isRemoval(last.value)
          ? write({ ...first, revision: last.value.sequence })
          : Effect.fail(conflict)
      )
    )
  }
  return { write, create }
}

const decoded = <A>({ codec }: Opened<A>, { value }: Stored) => codec.decode({ data: value, header: () => undefined })

const toEntry = <A>(opened: Opened<A>, stored: Stored): Effect.Effect<KvEntry<A>, BusRefused> => {
  const { key, revision } = stored
  const read = decoded(opened, stored)
  if (Result.isSuccess(read)) return Effect.succeed({ key, value: read.success, revision })
  const detail = `the stored value is broken: ${JSON.stringify(read.failure)}`
  return Effect.fail(new BusRefused({ operation: `read ${opened.bucket}/${key}`, detail, code: 0 }))
}

/** None for a value that does not fit: one broken record must not hide the others from a reader. */
const readable = Effect.fnUntraced(function* <A>(opened: Opened<A>, stored: Stored) {
  const { key, revision } = stored
  const read = decoded(opened, stored)
  if (Result.isSuccess(read)) return Option.some<KvEntry<A>>({ key, value: read.success, revision })
  yield* reportBroken(opened, stored, read.failure)
  return Option.none<KvEntry<A>>()
})

// Of each open bucket.
const reportedMax = 1_000

/** Once per record, however often it is read. */
const reportBroken = <A>({ bucket, reported }: Opened<A>, { key, revision }: Stored, faults: ReadonlyArray<Fault>) =>
  Effect.suspend(() => {
    if (reported.get(key) === revision) return Effect.void
    if (reported.size >= reportedMax) reported.clear()
    reported.set(key, revision)
    return sayBroken({ bucket, key, revision }, faults)
  })

const toPresent = Effect.fnUntraced(function* <A>(opened: Opened<A>, message: SourceMessage) {
  const { subject, data: value, sequence: revision } = message
  if (isRemoval(message) || (yield* isForged(subject, message))) return Option.none<KvEntry<A>>()
  return yield* readable(opened, { key: subject.slice(prefixOf(opened.bucket).length), value, revision })
})
