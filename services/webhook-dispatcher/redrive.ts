/**
 * Sends abandoned deliveries again: each becomes a new delivery with a new id that names the old one, starts
 * at attempt 1, and leaves ABANDONED once it is stored. Interrupted, the rest is still there; done twice,
 * the second finds nothing.
 */
import { hash } from "node:crypto"
import { Clock, Effect, Result, Stream } from "effect"
import { Publisher, StreamReader, type SourceMessage } from "#bus"
import { compileFilter, type Delivery, endpointIdOf, partitionOf, subjects } from "#contracts"
import { deliveryHeaders, dueDeliveryCodec, type DueDelivery } from "./delivery-codec.ts"
import { partitions } from "./endpoint-settings.ts"

/** Which abandoned deliveries; what is left out matches all. Times bound when they were abandoned. */
export interface RedriveQuery {
  readonly endpoint?: string | undefined
  readonly events: ReadonlyArray<string>
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly countMax: number
}

/** Counts the deliveries that were sent again. */
export const redrive = Effect.fn("redrive")(function* (query: RedriveQuery) {
  const reader = yield* StreamReader
  const subject =
    query.endpoint === undefined ? subjects.abandonedAll : subjects.abandoned(endpointIdOf(query.endpoint))
  const { firstSequence, lastSequence } = yield* reader.bounds("ABANDONED")
  const abandoned = reader.range("ABANDONED", { fromSequence: firstSequence, toSequence: lastSequence, subject })
  const wants = compileFilter(query.events.length === 0 ? ["*"] : query.events)
  return yield* abandoned.pipe(
    Stream.filter((message) => isWithin(message, query)),
    Stream.flatMap((message) => Stream.fromIterable(readAbandoned(message, wants))),
    // Before anything is sent, for the sending runs ahead.
    Stream.take(query.countMax),
    Stream.mapEffect(sendAgain, { concurrency: 16 }),
    Stream.runCount
  )
})

const isWithin = ({ storedAtMs }: SourceMessage, { sinceMs, untilMs }: RedriveQuery) =>
  storedAtMs >= (sinceMs ?? 0) && storedAtMs <= (untilMs ?? Number.POSITIVE_INFINITY)

interface Abandoned {
  readonly sequence: number
  readonly due: DueDelivery
}

/** One, or none when it is not wanted or cannot be read. */
const readAbandoned = (message: SourceMessage, wants: (event: string) => boolean): ReadonlyArray<Abandoned> => {
  const decoded = dueDeliveryCodec.decode(message)
  if (Result.isFailure(decoded) || !wants(decoded.success.delivery.event)) return []
  return [{ sequence: message.sequence, due: decoded.success }]
}

const sendAgain = Effect.fnUntraced(function* ({ sequence, due: { delivery, body } }: Abandoned) {
  const publisher = yield* Publisher
  const reader = yield* StreamReader
  const again: Delivery = {
    ...delivery,
    deliveryId: redriveId(delivery.deliveryId, sequence),
    redriveOf: delivery.deliveryId,
    attempt: 1,
    dueAt: yield* Clock.currentTimeMillis
  }
  const partition = partitionOf(delivery.endpointId, partitions)
  yield* publisher.publishRaw(subjects.deliveriesDue(partition, delivery.endpointId), body, {
    messageId: `${again.deliveryId}:1`,
    headers: deliveryHeaders(again)
  })
  yield* reader.remove("ABANDONED", sequence)
})

// The same for the same abandoned message, so that a redrive begun again after a crash is not a second one.
const redriveId = (deliveryId: string, sequence: number) => {
  const digits = hash("sha256", `redrive ${deliveryId} ${sequence}`, "hex")
  const variant = "89ab"[Number.parseInt(digits[16] ?? "0", 16) % 4]
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20, 32)
  ].join("-")
}
