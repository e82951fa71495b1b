/** A redrive sends abandoned deliveries again, by endpoint, event and time; a dry run counts them first. */
import { hash } from "node:crypto"
import { Clock, Effect, Option, Stream } from "effect"
import { Publisher, type SourceMessage, StreamReader } from "#bus"
import { compileFilter, type Delivery, deliveryPartitionOf, endpointIdOf, subjects } from "#contracts"
import { type AbandonedDelivery, readAbandoned } from "./deliveries.ts"
import { deliveryHeaders } from "./deliveries.ts"

/** Selects abandoned deliveries; an absent field matches all. Times bound when they were abandoned. */
interface RedriveQuery {
  readonly endpoint?: string | undefined
  readonly events: ReadonlyArray<string>
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  /** The ids of the endpoints to send to; those of others stay where they are. */
  readonly endpointIds?: ReadonlySet<string>
  readonly countMax: number
}

/** How many abandoned deliveries a redrive by this query would send, at most its `countMax`. Changes nothing. */
export const countAbandoned = (query: RedriveQuery) => Stream.runCount(selected(query))

/**
 * Sends abandoned deliveries again: each becomes a new delivery with a new id that names the old one, starts at attempt
 * 1, and leaves ABANDONED once it is stored. An interrupted redrive leaves the rest in place; a second run finds
 * nothing. Answers with how many were sent.
 */
export const redrive = Effect.fn("redrive")(function* (query: RedriveQuery) {
  return yield* selected(query).pipe(Stream.mapEffect(sendAgain, { concurrency: sendsAtOnce }), Stream.runCount)
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
      const wants = compileFilter(query.events.length === 0 ? ["*"] : query.events)
      return reader.range("ABANDONED", { fromSequence: firstSequence, toSequence: lastSequence, subject }).pipe(
        Stream.filter((message) => isWithin(message, query)),
        Stream.flatMap((message) => Stream.fromIterable(Option.toArray(readAbandoned(message)))),
        Stream.filter(({ due: { delivery } }) => wants(delivery.event)),
        Stream.filter(({ due: { delivery } }) => query.endpointIds?.has(delivery.endpointId) !== false),
        // The count is limited before anything is sent, for the sending runs ahead.
        Stream.take(query.countMax)
      )
    })
  )

const isWithin = ({ storedAtMs }: SourceMessage, { sinceMs, untilMs }: RedriveQuery) =>
  storedAtMs >= (sinceMs ?? 0) && storedAtMs <= (untilMs ?? Number.POSITIVE_INFINITY)

/** Sends one again and takes it out of ABANDONED; answers with the id of the new delivery. */
export const sendAgain = Effect.fnUntraced(function* ({ sequence, due: { delivery, body } }: AbandonedDelivery) {
  const publisher = yield* Publisher
  const reader = yield* StreamReader
  const { previousEndedAt: _previous, ...first } = delivery
  const again: Delivery = {
    ...first,
    deliveryId: redriveId(delivery.deliveryId, sequence),
    redriveOf: delivery.deliveryId,
    attempt: 1,
    dueAt: yield* Clock.currentTimeMillis
  }
  const partition = deliveryPartitionOf(delivery.endpointId)
  yield* publisher.publishRaw(subjects.deliveriesDue(partition, delivery.endpointId), body, {
    messageId: `${again.deliveryId}:1`,
    headers: deliveryHeaders(again)
  })
  yield* reader.remove("ABANDONED", sequence)
  return again.deliveryId
})

// The same id for the same abandoned message, so that a redrive that starts again after a crash sends no second one.
const redriveId = (deliveryId: string, sequence: number) => deliveryIdFrom(`redrive ${deliveryId} ${sequence}`)

/** A delivery's id made of a text: the same text gives the same id. Pure. */
export const deliveryIdFrom = (text: string): string => {
  const digits = hash("sha256", text, "hex")
  const variant = "89ab"[Number.parseInt(digits[16] ?? "0", 16) % 4]
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32)
  ].join("-")
}
