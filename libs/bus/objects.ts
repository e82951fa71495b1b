/**
 * Object stores: bytes too large for a message, streamed in and out in chunks, so that a large object is never in
 * memory all at once.
 */
import { nuid } from "@nats-io/nats-core"
import { type ObjectInfo, Objm, setSha256Backend } from "@nats-io/obj"
import { Clock, Context, DateTime, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { createHash } from "node:crypto"
import { Nats } from "./connection/connection.ts"
import type { StreamWrite } from "./connection/stream-calls.ts"
import { type BusError, BusNotFound, BusUnavailable } from "./errors.ts"
import { header, jsonCodec, toHeaders } from "./message.ts"
import { storedOn } from "./pages.ts"

/** The object stored under a name. */
export interface StoredObject {
  readonly name: string
  readonly bytes: number
  /** `SHA-256=` and the base64url digest, verified again on reading. */
  readonly digest: string
}

export class Objects extends Context.Service<
  Objects,
  {
    readonly put: <E>(
      store: string,
      name: string,
      content: Stream.Stream<Uint8Array, E>
    ) => Effect.Effect<StoredObject, BusError>
    /**
     * Stores bytes from memory in one round trip, and in one message where they fit; an object takes two. Earlier bytes
     * of the same name stay until they expire. Only `getBytes` finds them.
     */
    readonly putBytes: (store: string, name: string, bytes: Uint8Array) => Effect.Effect<void, BusError>
    /** The bytes last stored by `putBytes` under a name, from the leader. */
    readonly getBytes: (store: string, name: string) => Effect.Effect<Option.Option<Uint8Array>, BusError>
    readonly get: (store: string, name: string) => Stream.Stream<Uint8Array, BusError>
    readonly info: (store: string, name: string) => Effect.Effect<Option.Option<StoredObject>, BusError>
    readonly remove: (store: string, name: string) => Effect.Effect<void, BusError>
    /**
     * Removes uploads that never finished and have had no new bytes for that long; returns their number. An object gets
     * its name with its last byte, so nothing else leads to these.
     */
    readonly removeUnfinished: (store: string, untouchedMs: number) => Effect.Effect<number, BusError>
  }
>()("starling/bus/Objects") {
  static readonly layer = Layer.effect(
    Objects,
    Effect.gen(function* () {
      const nats = yield* Nats
      // The library's own is about twenty times slower, and blocks the process meanwhile.
      setSha256Backend("native")
      const manager = new Objm(nats.connection)
      const open = (store: string) => nats.use(`open object store ${store}`, () => manager.open(store))

      const put = Effect.fn("Objects.put")(function* <E>(
        store: string,
        name: string,
        content: Stream.Stream<Uint8Array, E>
      ) {
        const bucket = yield* open(store)
        const readable = Stream.toReadableStream(content)
        const info = yield* nats.use(`put ${store}/${name}`, () => bucket.put({ name }, readable))
        return { name, bytes: info.size, digest: info.digest }
      })

      const putBytes = (store: string, name: string, bytes: Uint8Array) =>
        bytes.length > 0 && bytes.length <= chunkBytesMax
          ? Effect.asVoid(nats.write(`put ${store}/${name}`, wholeMessage(store, name, bytes)))
          : writeObject(nats.write, { store, name, bytes })

      const get = (store: string, name: string) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const bucket = yield* open(store)
            const found = yield* nats.use(`get ${store}/${name}`, () => bucket.info(name))
            if (found === null || found.deleted) {
              return yield* new BusNotFound({ operation: `get ${store}/${name}`, detail: "no such object" })
            }
            return readChunks(nats, store, found)
          })
        )

      const getBytes = Effect.fn("Objects.getWhole")(function* (store: string, name: string) {
        const last = yield* nats.last(`OBJ_${store}`, wholeSubject(store, name))
        if (Option.isSome(last) && last.value.data.length > 0) return Option.some(last.value.data)
        return yield* Stream.runCollect(get(store, name)).pipe(
          Effect.map((parts) => Option.some<Uint8Array>(Buffer.concat(parts))),
          Effect.catchTag("BusNotFound", () => Effect.succeedNone)
        )
      })

      const info = Effect.fn("Objects.info")(function* (store: string, name: string) {
        const bucket = yield* open(store)
        const found = yield* nats.use(`info ${store}/${name}`, () => bucket.info(name))
        if (found === null || found.deleted) return Option.none()
        return Option.some({ name, bytes: found.size, digest: found.digest })
      })

      const remove = Effect.fn("Objects.remove")(function* (store: string, name: string) {
        const bucket = yield* open(store)
        yield* nats.use(`remove ${store}/${name}`, () => bucket.delete(name))
      })

      const removeUnfinished = Effect.fn("Objects.removeUnfinished")(function* (store: string, untouchedMs: number) {
        return yield* removeUnfinishedParts(nats, { store, untouchedMs })
      })
      return Objects.of({ put, putBytes, getBytes, get, info, remove, removeUnfinished })
    })
  )
}

interface Unfinished {
  readonly store: string
  readonly untouchedMs: number
}

const removeUnfinishedParts = Effect.fnUntraced(function* (nats: Nats["Service"], { store, untouchedMs }: Unfinished) {
  const stream = `OBJ_${store}`
  const prefix = chunksOf(store, "")
  const before = (yield* Clock.currentTimeMillis) - untouchedMs
  const present = yield* nats.use(`list the parts in ${store}`, ({ manager }) =>
    manager.streams.info(stream, { subjects_filter: `${prefix}>` })
  )
  const known = new Set(yield* finishedParts(nats, store))
  let removed = 0
  for (const subject of Object.keys(present.state.subjects ?? {})) {
    if (known.has(subject) || subject.startsWith(`${prefix}${wholePrefix}`)) continue
    const last = yield* nats.use(`read the last part of ${subject}`, ({ manager }) =>
      manager.streams.getMessage(stream, { last_by_subj: subject })
    )
    if (last === null || last.time.getTime() > before) continue
    yield* nats.use(`purge ${subject}`, ({ manager }) => manager.streams.purge(stream, { filter: subject }))
    removed += 1
  }
  return removed
})

/** The client library would create a consumer. Fails at the end when the bytes differ from those stored. */
const readChunks = (nats: Nats["Service"], store: string, object: ObjectInfo): Stream.Stream<Uint8Array, BusError> => {
  const hash = createHash("sha256")
  const chunks = storedOn(nats, `OBJ_${store}`, chunksOf(store, object.nuid)).pipe(
    Stream.map(({ data }) => {
      hash.update(data)
      return data
    })
  )
  const check = Effect.suspend(() => {
    const digest = object.digest.slice(object.digest.indexOf("=") + 1)
    if (hash.digest().equals(Buffer.from(digest, "base64url"))) return Effect.void
    return new BusUnavailable({ operation: `get ${store}/${object.name}`, detail: "the bytes do not fit their digest" })
  })
  return Stream.concat(chunks, Stream.drain(Stream.fromEffect(check)))
}

/** The subjects of the parts of all named objects. */
const finishedParts = Effect.fnUntraced(function* (nats: Nats["Service"], store: string) {
  const named = yield* Stream.runCollect(storedOn(nats, `OBJ_${store}`, `$O.${store}.M.>`))
  return named
    .map((message) => metaCodec.decode(message))
    .flatMap((meta) =>
      Result.isSuccess(meta) && meta.success.deleted !== true ? [chunksOf(store, meta.success.nuid)] : []
    )
})

// Part of what the client library writes.
const metaCodec = jsonCodec(Schema.Struct({ nuid: Schema.String, deleted: Schema.optionalKey(Schema.Boolean) }))

const chunksOf = (store: string, id: string) => `$O.${store}.C.${id}`

// The client library's chunk size.
const chunkBytesMax = 128 * 1_024

interface ObjectBytes {
  readonly store: string
  readonly name: string
  readonly bytes: Uint8Array
}

// No id of the client library has small letters.
const wholePrefix = "whole-"
const wholeSubject = (store: string, name: string) =>
  chunksOf(store, wholePrefix + Buffer.from(name).toString("base64url"))
const wholeMessage = (store: string, name: string, data: Uint8Array): StreamWrite => ({
  subject: wholeSubject(store, name),
  data,
  headers: toHeaders([])
})

/**
 * One round trip, where the client library makes five: chunks and name leave together, in the format of ADR-20. The
 * broker stores in the order of sending, so a name is only ever stored after its chunks. An older object's chunks stay
 * until they expire. An empty message marks an earlier `putBytes` as superseded.
 */
const writeObject = Effect.fnUntraced(function* (
  write: Nats["Service"]["write"],
  { store, name, bytes }: ObjectBytes
): Effect.fn.Return<void, BusError> {
  const id = nuid.next()
  const chunks: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += chunkBytesMax) chunks.push(bytes.subarray(at, at + chunkBytesMax))
  const digest = `SHA-256=${padded(createHash("sha256").update(bytes).digest("base64url"))}`
  const meta = {
    name,
    description: "",
    options: { max_chunk_size: chunkBytesMax },
    bucket: store,
    nuid: id,
    size: bytes.length,
    chunks: chunks.length,
    mtime: DateTime.formatIso(yield* DateTime.now),
    digest,
    deleted: false
  }
  const noHeaders = toHeaders([])
  const messages: ReadonlyArray<StreamWrite> = [
    ...chunks.map((data) => ({ subject: chunksOf(store, id), data, headers: noHeaders })),
    wholeMessage(store, name, new Uint8Array()),
    {
      subject: `$O.${store}.M.${padded(Buffer.from(name).toString("base64url"))}`,
      data: Buffer.from(JSON.stringify(meta)),
      headers: toHeaders([[header.rollup, "sub"]])
    }
  ]
  yield* Effect.forEach(messages, (message) => write(`put ${store}/${name}`, message), {
    concurrency: "unbounded",
    discard: true
  })
})

const padded = (base64url: string) => base64url.padEnd(Math.ceil(base64url.length / 4) * 4, "=")
