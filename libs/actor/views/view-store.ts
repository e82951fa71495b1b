/** Rows and cursor in KV `views`: a row is only ever replaced by one of a later record. */
import { Effect, Option } from "effect"
import type { BusError, KvBucket } from "#bus"
import { cursorKey, type Viewed, viewKey, type ViewRow } from "./view-row.ts"

export type ViewBucket = KvBucket<Viewed>

// Somebody else wrote the same key in between; a projector that lost its lease writes a moment longer.
const triesMax = 5

const isRow = (value: Viewed): value is ViewRow => "entity" in value

/** Brings one row up to its record, if it is not there already. */
export const storeRow = (bucket: ViewBucket, row: ViewRow): Effect.Effect<void, BusError> => {
  const key = viewKey(row)
  return again(
    Effect.gen(function* () {
      const held = yield* bucket.get(key)
      if (Option.isNone(held)) return yield* bucket.create(key, row)
      const { value, revision } = held.value
      if (isRow(value) && value.sequence >= row.sequence) return undefined
      return yield* bucket.update(key, row, revision)
    })
  )
}

export const removeRow = (bucket: ViewBucket, key: string): Effect.Effect<void, BusError> =>
  again(
    Effect.flatMap(bucket.get(key), (held) =>
      Option.isNone(held) ? Effect.void : bucket.erase(key, held.value.revision)
    )
  )

/** How far the log is in the views. */
export const readPosition = (bucket: ViewBucket): Effect.Effect<number, BusError> =>
  Effect.map(
    bucket.get(cursorKey),
    Option.match({ onNone: () => 0, onSome: ({ value }) => (isRow(value) ? 0 : value.position) })
  )

/** Never backwards. */
export const storePosition = (bucket: ViewBucket, position: number): Effect.Effect<void, BusError> =>
  again(
    Effect.gen(function* () {
      const held = yield* bucket.get(cursorKey)
      const cursor = { _tag: "Cursor" as const, position }
      if (Option.isNone(held)) return yield* bucket.create(cursorKey, cursor)
      const { value, revision } = held.value
      if (!isRow(value) && value.position >= position) return undefined
      return yield* bucket.update(cursorKey, cursor, revision)
    })
  )

const again = <A>(write: Effect.Effect<A, BusError>): Effect.Effect<void, BusError> =>
  Effect.asVoid(Effect.retry(write, { times: triesMax, while: (error) => error._tag === "RevisionConflict" }))
