/**
 * Abandoned deliveries. Each goes to the ABANDONED stream with its reason, from where a redrive can send it again. It
 * is stored there before it leaves DELIVERIES. One that is too large for the stream is stored without its body, so that
 * nothing is redelivered forever.
 */
import { Clock, Context, Effect, Layer, Result, Stream } from "effect"
import { type BusError, isTooLarge, Publisher, StreamReader } from "#bus"
import type { Abandonment } from "#webhooks/contract"
import { deliveryStream, isoTime, subjects } from "#base"
import { abandonedHeaders, type DueDelivery, dueDeliveryCodec } from "#webhooks"
import { DeliveryLanes } from "./lanes.ts"

const noBody = new Uint8Array(0)

export interface RemovedEndpoint {
  readonly id: string
  readonly name: string
  readonly reason: string
  /** By lane. */
  readonly below: ReadonlyArray<number>
}

export class AbandonedDeliveries extends Context.Service<
  AbandonedDeliveries,
  {
    /** Abandons one delivery. */
    readonly delivery: (due: DueDelivery, abandonment: Abandonment) => Effect.Effect<void, BusError>
    /** Abandons one without an endpoint, with the name of its former endpoint. */
    readonly ownerless: (due: DueDelivery, name: string, reason: string) => Effect.Effect<void, BusError>
    /**
     * Abandons every delivery waiting for an endpoint that is gone and stored below a sequence of its lane's stream.
     * Returns how many there were: a retry that came due meanwhile was stored anew, so only zero means done.
     */
    readonly endpoint: (gone: RemovedEndpoint) => Effect.Effect<number, BusError>
  }
>()("starling/webhook-dispatcher/AbandonedDeliveries") {
  static readonly layer = Layer.effect(
    AbandonedDeliveries,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const reader = yield* StreamReader
      const lanes = yield* DeliveryLanes

      const delivery = Effect.fn("AbandonedDeliveries.delivery")(function* (
        due: DueDelivery,
        abandonment: Abandonment
      ) {
        const store = ({ delivery: kept, body }: DueDelivery, why: Abandonment) =>
          publisher.publishRaw(subjects.abandoned(kept.endpointId), body, {
            // A crash between storing the abandonment and its ack must not list it twice.
            messageId: `${kept.deliveryId}:abandoned`,
            headers: abandonedHeaders(kept, why)
          })
        const { entity: _entity, ...bare } = due.delivery
        const without = {
          ...abandonment,
          reason: `its body is too large to store; ${abandonment.reason}`,
          isBodyLeftOut: true
        }
        yield* store(due, abandonment).pipe(
          Effect.catchIf(isTooLarge, () => store({ delivery: bare, body: noBody }, without))
        )
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

      const endpoint = Effect.fn("AbandonedDeliveries.endpoint")(function* ({
        id,
        name,
        reason,
        below
      }: RemovedEndpoint) {
        let found = 0
        for (const lane of lanes.all) {
          const [stream, ofLane] = [deliveryStream(lane), subjects.deliveries(lane)]
          // In this order: a retry that comes due between the two is then counted as due.
          for (const subject of [ofLane.waitOf(id), ofLane.dueOf(id)]) {
            // Counting is cheap; a purge that finds nothing still holds up a stream with many subjects.
            const counts = yield* reader.countBySubject(stream, subject)
            const count = Object.values(counts).reduce((sum, one) => sum + one, 0)
            const end = below[lane]
            if (count === 0 || end === undefined) continue
            found += count
            const waiting = reader.range(stream, { fromSequence: 1, toSequence: end - 1, subject })
            yield* Stream.runForEach(waiting, (message) => {
              const due = dueDeliveryCodec.decode(message)
              return Result.isFailure(due) ? Effect.void : ownerless(due.success, name, reason)
            })
            yield* reader.purge(stream, subject, end)
          }
        }
        return found
      })
      return AbandonedDeliveries.of({ delivery, ownerless, endpoint })
    })
  )
}

/** Why the deliveries of a removed endpoint are abandoned. */
export const removed = "the endpoint was removed"

export const logRemoved = ({ name, reason }: Pick<RemovedEndpoint, "name" | "reason">, deliveries: number) =>
  Effect.logWarning("a removed endpoint's deliveries are archived").pipe(
    Effect.annotateLogs({ endpoint: name, reason, abandoned: deliveries })
  )
