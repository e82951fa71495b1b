/**
 * Rows and cursor in KV `views`: a row is only ever replaced by one of a later record. Who wrote a row last knows its
 * place; only when somebody else has written meanwhile is it looked at first.
 */
import { Effect, Option } from "effect"
import type { BusError, KvBucket } from "#bus"
import { cursorKey, type Viewed, viewKey, type ViewRow } from "./view-row.ts"

export type ViewBucket = KvBucket<Viewed>

/** Where a row was seen or written last, and of which record it is. */
export interface RowPlace {
  readonly key: string
  readonly revision: number
  readonly sequence: number
}

// Somebody else wrote the same key in between; a projector that lost its lease writes a moment longer.
const triesMax = 5

const isRow = (value: Viewed): value is ViewRow => "entity" in value

/** Brings one row up to its record, if it is not there already. `known`: of the same key; nothing when there is none. */
export const storeRow = (
  bucket: ViewBucket,
  row: ViewRow,
  known: RowPlace | undefined
): Effect.Effect<RowPlace, BusError> => {
  const key = viewKey(row)
  const { sequence } = row
  const placed = (revision: number): RowPlace => ({ key, revision, sequence })
  if (known !== undefined && known.sequence >= sequence) return Effect.succeed(known)
  return bucket.update(key, row, known?.revision ?? 0).pipe(
    Effect.map(placed),
    Effect.catchTag("RevisionConflict", () => again(storeLooking(bucket, row, key)))
  )
}

const storeLooking = (bucket: ViewBucket, row: ViewRow, key: string): Effect.Effect<RowPlace, BusError> =>
  Effect.flatMap(bucket.get(key), (held) => {
    const placed = (revision: number): RowPlace => ({ key, revision, sequence: row.sequence })
    if (Option.isNone(held)) return Effect.map(bucket.create(key, row), placed)
    const { value, revision } = held.value
    return isRow(value) && value.sequence >= row.sequence
      ? Effect.succeed({ key, revision, sequence: value.sequence })
      : Effect.map(bucket.update(key, row, revision), placed)
  })

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
    Effect.flatMap(bucket.get(cursorKey), (held) => {
      const cursor = { _tag: "Cursor" as const, position }
      if (Option.isNone(held)) return Effect.asVoid(bucket.create(cursorKey, cursor))
      const { value, revision } = held.value
      return !isRow(value) && value.position >= position
        ? Effect.void
        : Effect.asVoid(bucket.update(cursorKey, cursor, revision))
    })
  )

const again = <A>(write: Effect.Effect<A, BusError>): Effect.Effect<A, BusError> =>
  Effect.retry(write, { times: triesMax, while: (error) => error._tag === "RevisionConflict" })
