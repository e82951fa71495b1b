/** The positions of LOG's readers: a record above any of them must not be purged. */
import { Effect, Option, Result, Schema } from "effect"
import type { Views } from "#actors"
import { type BusError, BusRefused, type Kv, relayRecordCodec, type StreamReader } from "#bus"
import { Count, SpendEntry, spendCursorKey, subjects } from "#contracts"

const cursorCodec = relayRecordCodec(Schema.Struct({ position: Schema.Int }))

/** The record up to which the relay has made events; the last few of them may be on their way. Read from the leader. */
export const readRelayed = Effect.fnUntraced(function* (
  reader: StreamReader["Service"]
): Effect.fn.Return<number, BusError> {
  const last = yield* reader.last("EVENTS", subjects.eventsCursor)
  if (Option.isNone(last)) return 0
  const record = cursorCodec.decode(last.value)
  if (Result.isFailure(record)) {
    const detail = JSON.stringify(record.failure)
    return yield* new BusRefused({ operation: "read the cursor of EVENTS", detail, code: 0 })
  }
  return record.success.cursor.position
})

const FollowUpCursor = Schema.Struct({ position: Count })

/** The record that all readers have reached: the relay, the views, the follow-ups, and spend. */
export const readSlowest = Effect.fnUntraced(function* (
  reader: StreamReader["Service"],
  kv: Kv["Service"],
  views: Views["Service"]
): Effect.fn.Return<number, BusError> {
  const relayed = yield* readRelayed(reader)
  const spend = yield* (yield* kv.open("spend", SpendEntry)).get(spendCursorKey)
  const followUps = yield* (yield* kv.open("cursors", FollowUpCursor)).get("follow-ups")
  const followed = Option.match(followUps, { onNone: () => 0, onSome: ({ value }) => value.position })
  const counted = Option.match(spend, { onNone: () => 0, onSome: ({ value }) => value.position })
  return Math.min(relayed, followed, counted, views.freshness().sequence)
})
