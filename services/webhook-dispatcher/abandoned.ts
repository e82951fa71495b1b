/**
 * Abandoned deliveries: those that will not be made. Each goes with its reason to the ABANDONED stream, from where a
 * redrive can send it again. A delivery is stored there before it leaves DELIVERIES.
 */
import { hash } from "node:crypto"
import { Clock, Context, Effect, Layer, Result, Stream } from "effect"
import { type BusError, type HeaderPairs, Publisher, type SourceMessage, StreamReader } from "#bus"
import {
  type Abandonment,
  compileFilter,
  type Delivery,
  endpointIdOf,
  isoTime,
  partitionOf,
  subjects
} from "#contracts"
import { deliveryHeaders, type DueDelivery, dueDeliveryCodec } from "./delivery-codec.ts"
import { partitions } from "./endpoints.ts"

const abandonmentHeader = "Starling-Abandonment"

/** Both headers of an abandoned message: the original delivery, and why it ended. */
const abandonedHeaders = (delivery: Delivery, abandonment: Abandonment): HeaderPairs => [
  ...deliveryHeaders(delivery),
  [abandonmentHeader, JSON.stringify(abandonment)]
]

export class AbandonedDeliveries extends Context.Service<
  AbandonedDeliveries,
  {
    /** Gives up one delivery. */
    readonly delivery: (due: DueDelivery, abandonment: Abandonment) => Effect.Effect<void, BusError>
    /** Gives up everything that waits for an endpoint that is no longer configured. */
    readonly endpoint: (endpointId: string, name: string) => Effect.Effect<void, BusError>
  }
>()("starling/webhook-dispatcher/AbandonedDeliveries") {
  static readonly layer = Layer.effect(
    AbandonedDeliveries,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const reader = yield* StreamReader

      const delivery = Effect.fn("AbandonedDeliveries.delivery")(function* (
        due: DueDelivery,
        abandonment: Abandonment
      ) {
        yield* publisher.publishRaw(subjects.abandoned(due.delivery.endpointId), due.body, {
          // A crash between storing the abandonment and its ack must not list it twice.
          messageId: `${due.delivery.deliveryId}:abandoned`,
          headers: abandonedHeaders(due.delivery, abandonment)
        })
      })

      const unconfigured = Effect.fnUntraced(function* (due: DueDelivery, name: string) {
        yield* delivery(due, {
          endpoint: name,
          reason: "the endpoint is no longer configured",
          attempts: due.delivery.attempt - 1,
          lastStatus: null,
          lastError: null,
          abandonedAt: isoTime(yield* Clock.currentTimeMillis)
        })
      })

      const endpoint = Effect.fn("AbandonedDeliveries.endpoint")(function* (endpointId: string, name: string) {
        const filters = [subjects.deliveriesDueOf(endpointId), subjects.deliveriesWaitOf(endpointId)]
        let moved = 0
        for (const subject of filters) {
          const waiting = reader.range("DELIVERIES", { fromSequence: 1, toSequence: Number.MAX_SAFE_INTEGER, subject })
          yield* Stream.runForEach(waiting, (message) => {
            const due = dueDeliveryCodec.decode(message)
            return Result.isFailure(due)
              ? Effect.void
              : Effect.map(unconfigured(due.success, name), () => void (moved += 1))
          })
          yield* reader.purge("DELIVERIES", subject)
        }
        yield* Effect.logWarning("an endpoint absent from the configuration is archived").pipe(
          Effect.annotateLogs({ endpoint: name, abandoned: moved })
        )
      })
      return AbandonedDeliveries.of({ delivery, endpoint })
    })
  )
}

/** Selects abandoned deliveries; an absent field matches all. Times bound when they were abandoned. */
export interface RedriveQuery {
  readonly endpoint?: string | undefined
  readonly events: ReadonlyArray<string>
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  readonly countMax: number
}

/**
 * Sends abandoned deliveries again: each becomes a new delivery with a new id that names the old one, starts at attempt
 * 1, and leaves ABANDONED once it is stored. An interrupted redrive leaves the rest in place; a second run finds
 * nothing. Answers with how many were sent.
 */
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
    // The count is limited before anything is sent, for the sending runs ahead.
    Stream.take(query.countMax),
    Stream.mapEffect(sendAgain, { concurrency: 16 }),
    Stream.runCount
  )
})

const isWithin = ({ storedAtMs }: SourceMessage, { sinceMs, untilMs }: RedriveQuery) =>
  storedAtMs >= (sinceMs ?? 0) && storedAtMs <= (untilMs ?? Number.POSITIVE_INFINITY)

interface AbandonedMessage {
  readonly sequence: number
  readonly due: DueDelivery
}

/** One abandoned delivery, or none when it is not wanted or cannot be read. */
const readAbandoned = (message: SourceMessage, wants: (event: string) => boolean): ReadonlyArray<AbandonedMessage> => {
  const decoded = dueDeliveryCodec.decode(message)
  if (Result.isFailure(decoded) || !wants(decoded.success.delivery.event)) return []
  return [{ sequence: message.sequence, due: decoded.success }]
}

const sendAgain = Effect.fnUntraced(function* ({ sequence, due: { delivery, body } }: AbandonedMessage) {
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

// The same id for the same abandoned message, so that a redrive that starts again after a crash sends no second one.
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
