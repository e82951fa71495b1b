/**
 * Abandoned deliveries: those that will not be made. Each goes with its reason to the ABANDONED stream, from where a
 * redrive can send it again. A delivery is stored there before it leaves DELIVERIES.
 */
import { Clock, Context, Effect, Layer, Result, Stream } from "effect"
import { type BusError, Publisher, StreamReader } from "#bus"
import { type Abandonment, isoTime, subjects } from "#contracts"
import { abandonedHeaders, type DueDelivery, dueDeliveryCodec } from "#webhooks"

export class AbandonedDeliveries extends Context.Service<
  AbandonedDeliveries,
  {
    /** Gives up one delivery. */
    readonly delivery: (due: DueDelivery, abandonment: Abandonment) => Effect.Effect<void, BusError>
    /** Gives up everything that waits for an endpoint that is gone. */
    readonly endpoint: (endpointId: string, name: string, reason: string) => Effect.Effect<void, BusError>
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

      const ownerless = Effect.fnUntraced(function* (due: DueDelivery, name: string, reason: string) {
        yield* delivery(due, {
          endpoint: name,
          reason,
          attempts: due.delivery.attempt - 1,
          lastStatus: null,
          lastError: null,
          abandonedAt: isoTime(yield* Clock.currentTimeMillis)
        })
      })

      const endpoint = Effect.fn("AbandonedDeliveries.endpoint")(function* (
        endpointId: string,
        name: string,
        reason: string
      ) {
        const filters = [subjects.deliveriesDueOf(endpointId), subjects.deliveriesWaitOf(endpointId)]
        let moved = 0
        for (const subject of filters) {
          const waiting = reader.range("DELIVERIES", { fromSequence: 1, toSequence: Number.MAX_SAFE_INTEGER, subject })
          yield* Stream.runForEach(waiting, (message) => {
            const due = dueDeliveryCodec.decode(message)
            return Result.isFailure(due)
              ? Effect.void
              : Effect.map(ownerless(due.success, name, reason), () => void (moved += 1))
          })
          yield* reader.purge("DELIVERIES", subject)
        }
        yield* Effect.logWarning("an endpoint that is gone is archived").pipe(
          Effect.annotateLogs({ endpoint: name, reason, abandoned: moved })
        )
      })
      return AbandonedDeliveries.of({ delivery, endpoint })
    })
  )
}
