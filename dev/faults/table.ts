/** Every fault, in batches: those of a batch do not touch each other, and are played at the same time. */
import * as broker from "./broker.ts"
import { diskFills, diskIsFull, isPlayable } from "./disk.ts"
import type { Fault } from "./fault.ts"
import * as gateway from "./gateway.ts"
import * as payments from "./payments.ts"
import * as roles from "./roles.ts"
import * as speech from "./speech.ts"
import * as webhooks from "./webhooks.ts"

const all: ReadonlyArray<ReadonlyArray<Fault>> = [
  [roles.synthesizerHangs],
  [roles.chainHangs],
  [
    gateway.keyIsRevoked,
    roles.eventIsBroken,
    webhooks.endpointFails,
    webhooks.deliveriesAreGivenUp,
    webhooks.circuitOpens,
    webhooks.endpointIsPaused,
    webhooks.endpointFallsBehind,
    webhooks.urlLeadsInside
  ],
  [
    roles.brokerIsAway,
    roles.connectionsAreMalformed,
    roles.tracesAreNotTaken,
    broker.tokensEnd,
    payments.tokenIsAnother,
    payments.feesEnd
  ],
  [
    roles.brokerComesAndGoes,
    broker.logFills,
    broker.sweepIsUnheld,
    broker.sweepFails,
    payments.booksDiffer,
    webhooks.endpointIsUnusable,
    speech.engineFails
  ],
  [roles.clockIsWrong, broker.attemptsAreTooLarge, payments.facilitatorIsAway, speech.chunksAreNotTaken],
  [speech.engineIsSlow],
  [roles.streamDiffers, broker.logIsFull, payments.keyIsUnheld, payments.signerIsAway],
  [broker.deliveriesAreTooLarge, payments.nodeIsOut],
  [webhooks.eventsAreMissed],
  [broker.streamIsLost, broker.callsAreNotCounted],
  [speech.callersAreMany],
  [broker.brokerIsSlow],
  [gateway.modelIsTooCheap],
  [diskFills],
  [diskIsFull]
]

export const faults: ReadonlyArray<Fault> = all.flat()

/** Those that can be played on this machine. */
export const batches = all.map((batch) => batch.filter(isPlayable)).filter((batch) => batch.length > 0)
