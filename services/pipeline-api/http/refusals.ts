/** What a command that was not carried out is to a caller. Pure but for the log of what is our own fault. */
import { Effect } from "effect"
import type { CommandError } from "#actors"
import type { BusError } from "#bus"
import { amended, conflict, internalError, notFound, serviceUnavailable, type WireError } from "#http"
import { entityNames } from "#pipeline"

// Who lost to others, or found the broker away, may try again at once; a full log takes an operator.
const soonSeconds = 1
const fullSeconds = 30

export const refusalOf = (error: CommandError): Effect.Effect<WireError> => {
  switch (error._tag) {
    case "Refusal":
      return Effect.succeed(amended(conflict(error.reason), { details: { state: error.state, reason: error.reason } }))
    case "EntityNotFound":
      return Effect.succeed(noSuch(error.entity as keyof typeof entityNames))
    case "EntityBusy":
    case "PreconditionFailed":
      return Effect.succeed(serviceUnavailable(soonSeconds, "too many want to change it at once"))
    case "StreamFull":
      return Effect.succeed(serviceUnavailable(fullSeconds, "the log is full, nothing can be decided"))
    case "BusUnavailable":
    case "RevisionConflict":
      return Effect.succeed(serviceUnavailable(soonSeconds, "the log cannot be reached just now"))
    default:
      return Effect.as(Effect.logError("the broker refused what it should not have", error), internalError())
  }
}

export const noSuch = (entity: keyof typeof entityNames): WireError =>
  notFound(`no such ${entityNames[entity]}`, `${entityNames[entity].replaceAll(" ", "_")}_not_found`)

/** Turns every failure of the way to an actor into what its caller is told. */
export const refusing = <A, R>(work: Effect.Effect<A, CommandError | BusError | WireError, R>) =>
  Effect.catch(work, (error) =>
    error._tag === "WireError" ? Effect.fail(error) : Effect.flatMap(refusalOf(error), Effect.fail)
  )
