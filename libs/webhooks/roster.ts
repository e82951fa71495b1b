/**
 * The roster: the endpoints of the configuration that the fan-out knows, stored beside its cursor. It also tells since
 * when one has been absent from the configuration.
 */
import { Effect, Option, Result, Schema } from "effect"
import { type BusError, BusRefused, jsonCodec, StreamReader } from "#bus"
import { subjects } from "#contracts"

export const Roster = Schema.Struct({
  endpoints: Schema.Record(
    Schema.String,
    Schema.Struct({ name: Schema.String, absentSinceMs: Schema.NullOr(Schema.Int) })
  )
})
export interface Roster extends Schema.Schema.Type<typeof Roster> {}

export const rosterCodec = jsonCodec(Roster)
export const emptyRoster: Roster = { endpoints: {} }

/** The stored roster; empty before the first fan-out. */
export const readRoster = Effect.gen(function* (): Effect.gen.Return<Roster, BusError, StreamReader> {
  const stored = yield* (yield* StreamReader).last("DELIVERIES", subjects.deliveriesRoster)
  if (Option.isNone(stored)) return emptyRoster
  const decoded = rosterCodec.decode(stored.value)
  if (Result.isSuccess(decoded)) return decoded.success
  const detail = `the stored roster is broken: ${JSON.stringify(decoded.failure)}`
  return yield* new BusRefused({ operation: "read the roster", detail, code: 0 })
})
