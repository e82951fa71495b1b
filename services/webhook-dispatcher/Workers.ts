/** What delivers: the same to the outside whether it takes from a consumer per endpoint or per partition. */
import type { Effect } from "effect"
import type { BusError, Consumption } from "#bus"
import type { EndpointDesk } from "./EndpointDesk.ts"

export interface Workers {
  readonly desks: ReadonlyArray<EndpointDesk>
  readonly consumptions: ReadonlyArray<Consumption>
  /** Brings an endpoint's pause and breaker in line with its shared state. */
  readonly follow: (endpointId: string) => Effect.Effect<void, BusError>
}
