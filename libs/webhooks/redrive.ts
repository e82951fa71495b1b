/** A redrive sends abandoned deliveries again, by endpoint, event and time; a dry run counts them first. */
import { Effect, Option, Stream } from "effect"
import { compileFilter, subjects } from "#base"
import { endpointIdOf } from "#webhooks/contract"
import { type SourceMessage, StreamReader } from "#bus"
import { sendAgain } from "./asked.ts"
import { readAbandoned } from "./deliveries.ts"

/** Selects abandoned deliveries; an absent field matches all. Times bound when they were abandoned. */
interface RedriveQuery {
  readonly endpoint?: string | undefined
  readonly events: ReadonlyArray<string>
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  /** The ids of the endpoints to send to; deliveries of others stay in place. */
  readonly endpointIds?: ReadonlySet<string>
  readonly countMax: number
  /** Excludes deliveries abandoned after this position in ABANDONED. */
  readonly through?: number | undefined
}

/** How many abandoned deliveries a redrive with this query would send, at most its `countMax`. Changes nothing. */
export const countAbandoned = (query: RedriveQuery) => Stream.runCount(selected(query))

/** The position of the last delivery that a query selects, 0 for none: any abandoned later are excluded. */
export const lastAbandoned = (query: RedriveQuery) =>
  Stream.runFold(
    selected(query),
    () => 0,
    (_, { sequence }) => sequence
  )

/**
 * Sends abandoned deliveries again: each becomes a new delivery with a new id that names the old one, starts at attempt
 * 1, and leaves ABANDONED once it is stored. An interrupted redrive leaves the rest in place; a second run finds
 * nothing. Returns how many were sent.
 */
export const redrive = Effect.fn("redrive")(function* (query: RedriveQuery) {
  return yield* selected(query).pipe(
    Stream.mapEffect(sendAgain, { concurrency: sendsAtOnce }),
    Stream.filter(({ _tag }) => _tag === "Stored"),
    Stream.runCount
  )
})

// Enough to keep the broker busy beside live deliveries.
const sendsAtOnce = 16

/** The abandoned deliveries that a query selects, oldest first. */
const selected = (query: RedriveQuery) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const reader = yield* StreamReader
      const subject =
        query.endpoint === undefined ? subjects.abandonedAll : subjects.abandoned(endpointIdOf(query.endpoint))
      const { firstSequence, lastSequence } = yield* reader.bounds("ABANDONED")
      const toSequence = Math.min(lastSequence, query.through ?? lastSequence)
      if (toSequence < firstSequence) return Stream.empty
      const wants = compileFilter(query.events.length === 0 ? ["*"] : query.events)
      return reader.range("ABANDONED", { fromSequence: firstSequence, toSequence, subject }).pipe(
        Stream.filter((message) => isWithin(message, query)),
        Stream.flatMap((message) => Stream.fromIterable(Option.toArray(readAbandoned(message)))),
        Stream.filter(({ due: { delivery } }) => wants(delivery.event)),
        Stream.filter(({ due: { delivery } }) => query.endpointIds?.has(delivery.endpointId) !== false),
        // The count is limited before anything is sent, because sending runs ahead.
        Stream.take(query.countMax)
      )
    })
  )

const isWithin = ({ storedAtMs }: SourceMessage, { sinceMs, untilMs }: RedriveQuery) =>
  storedAtMs >= (sinceMs ?? 0) && storedAtMs <= (untilMs ?? Number.POSITIVE_INFINITY)
