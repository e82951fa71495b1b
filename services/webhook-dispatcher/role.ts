/**
 * The role webhook-dispatcher turns events into signed deliveries to receivers.
 *
 * in: `events.>` (relay), `deliveries.due.>` (consumer per endpoint or partition), KV `endpoints`, `webhook-endpoints`,
 * `deliveries-asked` (tests, and deliveries that operators resend)
 * out: signed POSTs to the endpoints, `deliveries.>`, `attempts.*`, `abandoned.*`, `rejected.*`, KV `webhook-dispatchers`,
 * `webhook-gaps`, `webhook-tokens` and `leases`
 * state: each fan-out's cursor and roster in the stream of its lane, of which DELIVERIES is the first; KV `endpoints`
 * failure policy: the message counts its attempts; a retry is a schedule; after MaxAttempts a delivery goes to
 * ABANDONED; a broken envelope goes to REJECTED; no receiver can affect another endpoint.
 */
import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { Configuration } from "#configuration"
import { EventTypes } from "#events"
import { Drain, Health, Metrics } from "#runtime"
import { answerAskedDeliveries, EndpointStates } from "#webhooks"
import { AbandonedDeliveries } from "./abandoned.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { AttemptLog } from "./attempt-log.ts"
import { Backlogs } from "./backlogs.ts"
import { consumeDeliveries, type Consuming } from "./consumers.ts"
import { DeliveryAttempts } from "./delivery-attempt.ts"
import { circuitState, DeliveryMetrics, endpointPaused, inFlight } from "./metrics.ts"
import { Endpoints } from "./endpoints/Endpoints.ts"
import { DeliveryLanes } from "./lanes.ts"
import { DeliveryOrder } from "./order/DeliveryOrder.ts"
import { FanOut } from "./fan-out/fan-out.ts"

/** Checks the configuration before any request to the broker. */
export { configuredEndpoints as checkWebhookDispatcher } from "./endpoints/settings.ts"

// The role has 30 s to drain; work still running after 25 s is handed back, and flushed in the remaining time.
const drainPatienceMs = 25_000
const beatEvery = "1 second"
const stallMs = 15_000

/** The delivering half: takes the fan-out's deliveries, with one worker for each endpoint. */
const delivering = Layer.effectDiscard(
  Effect.gen(function* () {
    const consuming = yield* consumeDeliveries()
    yield* followStates(consuming)
    yield* showWork(consuming)
    yield* registerDrain(consuming)
  })
)

/** An endpoint just created, or an event type just declared, may not be known here yet. */
const answeringOperators = Effect.gen(function* () {
  const { byId, catchUp } = yield* Endpoints
  const types = yield* EventTypes
  const isThere = (id: string) => byId(id) !== undefined
  yield* answerAskedDeliveries({
    hasEndpoint: (id) => (isThere(id) ? Effect.succeed(true) : Effect.map(catchUp, () => isThere(id))),
    findType: (event) => Effect.map(types.catchUp, () => types.at(event, Infinity))
  })
})

const eventTypes = Layer.unwrap(Effect.map(Configuration, ({ Events }) => EventTypes.layer(Events)))

const services = DeliveryAttempts.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(AbandonedDeliveries.layer, AttemptLog.layer, AccessTokens.layer)),
  Layer.provideMerge(Layer.mergeAll(Backlogs.layer, EndpointStates.layer, DeliveryOrder.layer)),
  Layer.provideMerge(Layer.mergeAll(DeliveryLanes.layer, Endpoints.layer, DeliveryMetrics.layer)),
  Layer.provideMerge(eventTypes)
)

/** Needs the bus, the egress and the runtime. */
export const webhookDispatcher = Layer.mergeAll(FanOut.layer, delivering, Layer.effectDiscard(answeringOperators)).pipe(
  Layer.provide(services)
)

/** Follows pauses and breakers that operators and other replicas set. */
const followStates = Effect.fnUntraced(function* (consuming: Consuming) {
  const states = yield* EndpointStates
  yield* Effect.forkScoped(Stream.runForEach(states.changes, consuming.follow))
})

const phaseNumbers = { closed: 0, "half-open": 1, open: 2 } as const

const showWork = Effect.fnUntraced(function* (consuming: Consuming) {
  const metrics = yield* Metrics
  const states = yield* EndpointStates
  const inFlightGauge = metrics.gauge(inFlight)
  const circuitGauge = metrics.gauge(circuitState)
  const pausedGauge = metrics.gauge(endpointPaused)
  const loop = yield* (yield* Health).loop("dispatcher", { stallMs })
  const show = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    loop.beat()
    for (const { settings: settingsOf, breaker, inWork } of consuming.workers()) {
      const settings = settingsOf()
      const labels = { endpoint: settings.name }
      inFlightGauge.set(labels, inWork())
      circuitGauge.set(labels, phaseNumbers[breaker.phaseAt(nowMs)])
      pausedGauge.set(labels, states.isPaused(settings.id) ? 1 : 0)
    }
  })
  yield* Effect.forkScoped(Effect.repeat(show, Schedule.spaced(beatEvery)))
})

const registerDrain = Effect.fnUntraced(function* (consuming: Consuming) {
  const drain = yield* Drain
  const log = yield* AttemptLog
  yield* drain.register(
    "webhook-dispatcher",
    Effect.gen(function* () {
      const report = yield* consuming.drain(drainPatienceMs)
      yield* log.flush
      return report
    })
  )
})
