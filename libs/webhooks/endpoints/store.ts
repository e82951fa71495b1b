/** The bucket of endpoints made at run time, by endpoint id. */
import { Effect, Option } from "effect"
import { type BusError, Kv, type KvBucket, StreamReader } from "#bus"
import { EndpointRecord } from "#contracts"

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
