/**
 * The members of a lane: the endpoints that its fan-out knows, kept beside its cursor and written in the step that
 * gives an endpoint its position. The roster is one message with the configured endpoints, and since when any has been
 * absent from the configuration. Each runtime endpoint has a message of its own, so that a change costs the same with
 * ten endpoints as with ten thousand.
 */
import { Effect, Option, Result, Schema } from "effect"
import { deliveryStream, subjects } from "#base"
import { type BusError, BusRefused, jsonCodec, StreamReader } from "#bus"

export const Roster = Schema.Struct({
  endpoints: Schema.Record(
    Schema.String,
    Schema.Struct({ name: Schema.String, absentSinceMs: Schema.NullOr(Schema.Int) })
  )
})
export interface Roster extends Schema.Schema.Type<typeof Roster> {}

export const rosterCodec = jsonCodec(Roster)
export const emptyRoster: Roster = { endpoints: {} }

/** A lane's stored roster; empty before its first fan-out. */
export const readRoster = Effect.fnUntraced(function* (lane: number): Effect.fn.Return<Roster, BusError, StreamReader> {
  const stored = yield* (yield* StreamReader).last(deliveryStream(lane), subjects.deliveries(lane).roster)
  if (Option.isNone(stored)) return emptyRoster
  const decoded = rosterCodec.decode(stored.value)
  if (Result.isSuccess(decoded)) return decoded.success
  const detail = `the stored roster is broken: ${JSON.stringify(decoded.failure)}`
  return yield* new BusRefused({ operation: "read the roster", detail, code: 0 })
})

export interface Members {
  readonly configured: Roster["endpoints"]
  readonly atRunTime: ReadonlySet<string>
}

/** A lane's members, including endpoints that are leaving. */
export const readMembers = Effect.fnUntraced(function* (
  lane: number
): Effect.fn.Return<Members, BusError, StreamReader> {
  const { endpoints } = yield* readRoster(lane)
  const reader = yield* StreamReader
  const counts = yield* reader.countBySubject(deliveryStream(lane), subjects.deliveries(lane).rosterOfAll)
  const lastToken = (subject: string) => subject.slice(subject.lastIndexOf(".") + 1)
  return { configured: endpoints, atRunTime: new Set(Object.keys(counts).map(lastToken)) }
})
