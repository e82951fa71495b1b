/**
 * Object stores: bytes too large for a message, streamed in and out in chunks, so that a large object never
 * stands in memory whole.
 */
import { Objm } from "@nats-io/obj"
import { Context, Effect, Layer, Option, Stream } from "effect"
import { type BusError, BusNotFound, toBusError } from "./errors.ts"
import { Nats } from "./Nats.ts"

/** What is stored under a name. */
export interface StoredObject {
  readonly name: string
  readonly bytes: number
  /** `SHA-256=` and the base64url digest, checked again on reading. */
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
    readonly get: (store: string, name: string) => Stream.Stream<Uint8Array, BusError>
    readonly info: (store: string, name: string) => Effect.Effect<Option.Option<StoredObject>, BusError>
    readonly remove: (store: string, name: string) => Effect.Effect<void, BusError>
  }
>()("starling/bus/Objects") {
  static readonly layer = Layer.effect(
    Objects,
    Effect.gen(function* () {
      const nats = yield* Nats
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

      const get = (store: string, name: string) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const bucket = yield* open(store)
            const found = yield* nats.use(`get ${store}/${name}`, () => bucket.get(name))
            if (found === null) {
              return yield* new BusNotFound({ operation: `get ${store}/${name}`, detail: "no such object" })
            }
            return Stream.fromReadableStream({
              evaluate: () => found.data,
              onError: toBusError(`get ${store}/${name}`)
            })
          })
        )

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
      return Objects.of({ put, get, info, remove })
    })
  )
}
