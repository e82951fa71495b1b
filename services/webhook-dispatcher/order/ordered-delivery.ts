/** A delivery of an ordered endpoint, from its arrival to its ack: it waits for its key, then for a place to go. */
import { Clock, Effect } from "effect"
import { type AckDecision, nak, type Received } from "#bus"
import { type DueDelivery, EndpointStates } from "#webhooks"
import { DeliveryAttempts } from "../delivery-attempt.ts"
import type { EndpointWorker } from "../endpoint-worker.ts"
import { isEnabled } from "../endpoints/settings.ts"
import type { LaneCursors } from "../lane-cursors.ts"
import { DeliveryLanes } from "../lanes.ts"
import { DeliveryMetrics } from "../metrics.ts"
import { DeliveryOrder, keyedOf, type OrderedEndpoint } from "./DeliveryOrder.ts"
import type { Keyed } from "./queue.ts"

// The endpoint's next taker gets everything anew, and need not wait for this.
const backDelayMs = 1_000
// The broker is told to hold a paused endpoint's deliveries; those that were on their way come back later.
const pausedDelayMs = 5_000

interface Dependencies extends Effect.Success<typeof dependencies> {}

const dependencies = Effect.gen(function* () {
  return {
    order: yield* DeliveryOrder,
    lanes: yield* DeliveryLanes,
    states: yield* EndpointStates,
    attempts: yield* DeliveryAttempts,
    metrics: yield* DeliveryMetrics
  }
})

export const orderedDeliveries = Effect.map(
  dependencies,
  (deps) =>
    (worker: EndpointWorker, received: Received<DueDelivery>): Effect.Effect<AckDecision> => {
      const keyed = keyedOf(received.value.delivery)
      const endpoint = deps.order.opened(received.value.delivery.endpointId)
      if (endpoint === undefined) return Effect.succeed(nak(backDelayMs))
      if (keyed === undefined) return inPlace(endpoint, worker, received)
      return endpoint.queue.inHand(keyed, handle(deps, { endpoint, keyed, worker, received }))
    }
)

interface Arrived {
  readonly endpoint: OrderedEndpoint
  readonly keyed: Keyed
  readonly worker: EndpointWorker
  readonly received: Received<DueDelivery>
}

const handle = Effect.fnUntraced(function* (deps: Dependencies, { endpoint, keyed, worker, received }: Arrived) {
  const { queue, ended } = endpoint
  const { value: due } = received
  const { lanes, states, attempts, metrics } = deps
  const arrivedMs = yield* Clock.currentTimeMillis
  const mayHold = !isMoving(lanes.state(), due.delivery.endpointId)
  const turn = yield* queue.turn(keyed, { size: due.body.length, mayHold })
  if (turn._tag === "Back") return nak(backDelayMs)
  if (turn._tag === "PutOff") return yield* attempts.postpone(due, turn.untilMs)
  const nowMs = yield* Clock.currentTimeMillis
  if (nowMs > arrivedMs) metrics.held(worker.settings(), nowMs)
  const again = (delayMs: number) => {
    queue.comesAgain(keyed, nowMs + delayMs)
    return nak(delayMs)
  }
  const settings = worker.settings()
  if (states.isPaused(settings.id) || !isEnabled(settings)) return again(pausedDelayMs)
  const decision = yield* inPlace(endpoint, worker, received)
  if (decision._tag === "Nak") queue.comesAgain(keyed, nowMs + decision.delayMs)
  else if (ended.delete(keyed.sequence)) queue.end(keyed)
  return decision
})

/** Nothing that waits stays due in a lane which its endpoint leaves: the next lane begins when nothing is due there. */
const isMoving = ({ cursors }: LaneCursors, endpointId: string) =>
  cursors.some((cursor) => cursor?.left?.[endpointId] !== undefined)

/** At most `Concurrency` at once: no other process takes the endpoint. */
const inPlace = (endpoint: OrderedEndpoint, worker: EndpointWorker, received: Received<DueDelivery>) =>
  Effect.suspend(() => {
    const { concurrency } = worker.settings()
    const { places } = endpoint
    const resized = endpoint.placesMax === concurrency ? Effect.void : places.resize(concurrency)
    endpoint.placesMax = concurrency
    return Effect.andThen(resized, places.withPermit(worker.handle(received)))
  })
