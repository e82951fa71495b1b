/** Every fault, in batches: those of a batch do not touch each other, and are played at the same time. */
import type { Fault } from "./fault.ts"
import { keyIsRevoked } from "./gateway.ts"
import { chainHangs, eventIsBroken, synthesizerHangs } from "./roles.ts"
import {
  circuitOpens,
  deliveriesAreGivenUp,
  endpointFails,
  endpointFallsBehind,
  endpointIsPaused,
  urlLeadsInside
} from "./webhooks.ts"

export const batches: ReadonlyArray<ReadonlyArray<Fault>> = [
  [synthesizerHangs],
  [chainHangs],
  [
    keyIsRevoked,
    eventIsBroken,
    endpointFails,
    deliveriesAreGivenUp,
    circuitOpens,
    endpointIsPaused,
    endpointFallsBehind,
    urlLeadsInside
  ]
]

export const faults: ReadonlyArray<Fault> = batches.flat()
