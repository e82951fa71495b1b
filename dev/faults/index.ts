/** Faults of a running fleet, as tests and `./starling load faults` play them. */
export type { Fault } from "./fault.ts"
export { type FaultFleet, startFaultFleet } from "./fleet.ts"
export { conditionsOf, conditionsOfFault, type Conditions, play, type Played } from "./play.ts"
export { batches, faults } from "./table.ts"
export { unplayed } from "./unplayed.ts"
export { isPlayable } from "./disk.ts"
