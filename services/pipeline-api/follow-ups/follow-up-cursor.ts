/** How far the log has been followed up: in KV `cursors`, moved on and never back. */
import { Effect, Option, Schema } from "effect"
import type { BusError, KvBucket } from "#bus"
import { Count } from "#contracts"

export const Cursor = Schema.Struct({ position: Count })
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

const key = "follow-ups"

export const readCursor = (bucket: KvBucket<Cursor>): Effect.Effect<number, BusError> =>
  Effect.map(bucket.get(key), Option.match({ onNone: () => 0, onSome: ({ value }) => value.position }))

/** Whoever is overtaken has lost its lease; what it did is done again in vain. */
export const moveCursor = (bucket: KvBucket<Cursor>, position: number): Effect.Effect<void, BusError> =>
  Effect.flatMap(bucket.get(key), (held) => {
    if (Option.isNone(held)) return Effect.asVoid(bucket.create(key, { position }))
    return held.value.value.position >= position
      ? Effect.void
      : Effect.asVoid(bucket.update(key, { position }, held.value.revision))
  })
