/**
 * Delivers with one consumer per endpoint: backlog, concurrency and pauses are the broker's, so nothing an
 * endpoint does can touch another. For up to PartitionsAbove endpoints.
 */
import { Effect } from "effect"
import { consume, Consumers } from "#bus"
import { BreakerLimits } from "./breaker-policy.ts"
import { endpointConsumer } from "./consumers.ts"
import { Courier } from "./Courier.ts"
import { CourierMetrics } from "./CourierMetrics.ts"
import { dueDeliveryCodec } from "./delivery-codec.ts"
import type { EndpointSettings } from "./endpoint-settings.ts"
import { endpointDesk } from "./EndpointDesk.ts"
import { EndpointStates } from "./EndpointStates.ts"
import type { Workers } from "./Workers.ts"

// The broker holds a pause by date; an operator's pause has none.
const farFutureMs = Date.UTC(9999, 0, 1)

// Not traced: what is begun in here runs on, and each delivery is to begin a trace of its own.
export const endpointWorkers = Effect.fnUntraced(function* (endpoints: ReadonlyArray<EndpointSettings>) {
  const consumers = yield* Consumers
  const states = yield* EndpointStates
  const courier = yield* Courier
  const metrics = yield* CourierMetrics
  const breakerLimits = yield* BreakerLimits

  const start = Effect.fnUntraced(function* (settings: EndpointSettings) {
    const consumer = endpointConsumer(settings)
    const holdUntil = (untilMs: number) => consumers.pause(consumer.stream, consumer.durable, untilMs)
    const desk = endpointDesk(settings, { courier, states, metrics, breakerLimits, holdUntil })
    const consumption = yield* consume({
      consumer,
      codec: dueDeliveryCodec,
      origin: "deliveries",
      handler: desk.handle
    })
    const follow = Effect.gen(function* () {
      const state = states.get(settings.id)
      yield* desk.breaker.adopt(state?.breakerOpenUntilMs ?? null)
      if (state?.paused != null) yield* holdUntil(farFutureMs)
      else if (state?.breakerOpenUntilMs != null) yield* holdUntil(state.breakerOpenUntilMs)
      else yield* consumers.resume(consumer.stream, consumer.durable)
    })
    yield* follow
    return { id: settings.id, desk, consumption, follow }
  })

  const started = yield* Effect.forEach(endpoints, start, { concurrency: 8 })
  const workers: Workers = {
    desks: started.map((worker) => worker.desk),
    follow: (id) => started.find((worker) => worker.id === id)?.follow ?? Effect.void,
    consumptions: started.map((worker) => worker.consumption)
  }
  return workers
})
