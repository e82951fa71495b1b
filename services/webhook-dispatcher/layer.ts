/**
 * The role webhook-dispatcher, whole.
 *
 * in: `events.>` (relay), `deliveries.due.>` (consumer per endpoint or partition), KV `endpoints`
 * out: signed POSTs to the endpoints, `deliveries.>`, `attempts.*`, `abandoned.*`, `rejected.*`
 * state: the fan-out's cursor and roster in DELIVERIES, KV `endpoints`
 * failure policy: attempts are counted in the message; a retry is a schedule; after MaxAttempts to
 * ABANDONED; a broken envelope to REJECTED; nothing a receiver does touches another endpoint.
 */
import { Layer } from "effect"
import { Archive } from "./Archive.ts"
import { AttemptLog } from "./AttemptLog.ts"
import { Backlogs } from "./Backlogs.ts"
import { Courier } from "./Courier.ts"
import { CourierMetrics } from "./CourierMetrics.ts"
import { Dispatcher } from "./Dispatcher.ts"
import { Endpoints } from "./Endpoints.ts"
import { EndpointStates } from "./EndpointStates.ts"
import { FanOut } from "./FanOut.ts"
import { Receivers } from "./Receivers.ts"

const services = Courier.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Archive.layer, AttemptLog.layer, CourierMetrics.layer)),
  Layer.provideMerge(Layer.mergeAll(Receivers.layer, Backlogs.layer, EndpointStates.layer)),
  Layer.provideMerge(Endpoints.layer)
)

/** Needs the bus, the egress and the runtime. */
export const webhookDispatcher = Layer.mergeAll(FanOut.layer, Dispatcher.layer).pipe(Layer.provide(services))

/** What is wrong with the configuration, before anything is asked of the broker. */
export { configuredEndpoints as checkWebhookDispatcher } from "./Endpoints.ts"
