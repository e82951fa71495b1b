/** Faults of a running fleet, as tests and `./starling load faults` play them. */
export type { Fault } from "./fault.ts"
export { type FaultFleet, startFaultFleet } from "./fleet.ts"
export { conditionsOf, type Conditions, play, type Played } from "./play.ts"
export { batches, faults } from "./table.ts"
