/** How far a relay has come, as the target stream's leader has it. */
import { Effect, Option, Result } from "effect"
import { type BusError, BusRefused } from "./errors.ts"
import type { Nats } from "./Nats.ts"
import type { RelayOptions } from "./relay-options.ts"
import type { RelayRecord } from "./relay-record.ts"

export interface StoredCursor<Cursor> {
  readonly record: RelayRecord<Cursor>
  /** Of the record in the target stream; what the next write expects. */
  readonly sequence: number
}

/** None when the relay never ran. */
export const storedCursor = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  { name, target, place }: RelayOptions<Cursor, E, R>
): Effect.fn.Return<Option.Option<StoredCursor<Cursor>>, BusError> {
  const stored = yield* nats.last(target, place.subject)
  if (Option.isNone(stored)) return Option.none()
  const decoded = place.codec.decode(stored.value)
  if (Result.isFailure(decoded)) {
    const detail = `the stored cursor is broken: ${JSON.stringify(decoded.failure)}`
    return yield* new BusRefused({ operation: `read the cursor of ${name}`, detail, code: 0 })
  }
  return Option.some({ record: decoded.success, sequence: stored.value.sequence })
})

/** The last sequence of the relay's source. */
export const lastOfSource = <Cursor, E, R>(nats: Nats["Service"], { source }: RelayOptions<Cursor, E, R>) =>
  nats
    .use(`read ${source}`, ({ manager }) => manager.streams.info(source))
    .pipe(Effect.map((info) => info.state.last_seq))
