/**
 * The settler in the process of a gateway: a payment is handed to it without a job in SETTLEMENTS between, which would
 * be written, read and acked while a caller waits. All that a follower needs, should the process die, is in the claim:
 * it says SETTLING and the transaction's name before anything is sent, and a sweep asks for it again. What a neighbour
 * cannot end, has no key for or no room is asked for by a job, as by a gateway that is alone.
 */
import { Context, Effect, Layer } from "effect"
import type { BusError } from "#bus"
import type { SettlementOutcome } from "#contracts"
import type { Claim } from "./ClaimStore.ts"

/** A payment that is to be settled; nobody has signed anything for it. */
export interface Handed {
  readonly claim: Claim
  /** Nothing is written before this has succeeded; when it fails the claim stays as it is. */
  readonly answerKept: Effect.Effect<void, BusError>
  /** When the chain has the transfer, before the books are written. */
  readonly onSettled: (transaction: string) => void
  /** What became of it; `Pending` of what is not known. Not called where the claim is not ours to settle any more. */
  readonly onEnd: (outcome: SettlementOutcome) => Effect.Effect<void>
}

export interface NeighbourSettler {
  /** Whether it would begin at once: it has a key of the network, and room. */
  readonly isFree: (network: string) => boolean
  /** Begins, and goes on by itself, whatever becomes of who asked. False where it is not free any more. */
  readonly settle: (handed: Handed) => Effect.Effect<boolean>
}

export interface SettlerDoor {
  /** The neighbour that would begin at once. */
  readonly free: (network: string) => NeighbourSettler | undefined
  readonly enter: (settler: NeighbourSettler) => () => void
}

const door = (): SettlerDoor => {
  let present: NeighbourSettler | undefined
  return {
    free: (network) => (present?.isFree(network) === true ? present : undefined),
    enter: (settler) => {
      present ??= settler
      return () => void (present === settler && (present = undefined))
    }
  }
}

/** Nobody, unless the process says that its roles are neighbours. */
export const SettlerNextDoor = Context.Reference<SettlerDoor>("starling/x402/SettlerNextDoor", {
  defaultValue: () => ({ free: () => undefined, enter: () => () => undefined })
})

/** For the roles of one process, on one broker and with one configuration. */
export const settlerNextDoor = Layer.effect(SettlerNextDoor, Effect.sync(door))
