/**
 * The KV state of webhook endpoints: those created at run time, by endpoint id; and the live dispatchers, with the
 * latest endpoint change that each acts on. A dispatcher that stops renewing its presence is gone after three seconds
 * by the broker's clock; it stops sending before that, by its own.
 */
import { Clock, Effect, Option, Stream } from "effect"
import { type BusError, Kv, type KvBucket, StreamReader } from "#bus"
import { DispatcherPresence, EndpointRecord } from "#webhooks/contract"
import { NotActedOn } from "./errors.ts"

const bucketName = "webhook-endpoints"

export interface EndpointStore {
  readonly bucket: KvBucket<EndpointRecord>
  /** The revision of the newest change that the bucket still holds, from its leader. */
  readonly lastRevision: Effect.Effect<number, BusError>
}

export const openEndpointStore = Effect.gen(function* () {
  const bucket = yield* (yield* Kv).open(bucketName, EndpointRecord)
  const { last } = yield* StreamReader
  const store: EndpointStore = {
    bucket,
    lastRevision: Effect.map(
      last(`KV_${bucketName}`, `$KV.${bucketName}.>`),
      Option.match({ onNone: () => 0, onSome: ({ sequence }) => sequence })
    )
  }
  return store
})

export const openPresences = Effect.flatMap(Kv, (kv) => kv.open("webhook-dispatchers", DispatcherPresence))

/** The lifetime of a presence that is not renewed. */
export const presenceMs = 3_000

// A dead dispatcher is waited for until its presence expires, which the broker does to the second.
const waitMsMax = 10_000
const lookEvery = "20 millis"

/** Waits until every live dispatcher acts on the revision of the endpoints' bucket. */
export const awaitActedOn = Effect.fnUntraced(function* (
  presences: KvBucket<DispatcherPresence>,
  revision: number
): Effect.fn.Return<void, BusError | NotActedOn> {
  const startedAtMs = yield* Clock.currentTimeMillis
  while (true) {
    const behind = yield* dispatchersBehind(presences, revision)
    if (behind.length === 0) return
    const waitedMs = (yield* Clock.currentTimeMillis) - startedAtMs
    if (waitedMs >= waitMsMax) return yield* new NotActedOn({ dispatchers: behind, waitedMs })
    yield* Effect.sleep(lookEvery)
  }
})

/** The live dispatchers that do not act on that revision yet. */
export const dispatchersBehind = (presences: KvBucket<DispatcherPresence>, revision: number) =>
  Effect.map(Stream.runCollect(presences.scan("*")), (present) =>
    present.filter(({ value }) => value.actsOn < revision).map(({ key }) => key)
  )
