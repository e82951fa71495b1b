/**
 * Whether an event may be published: its envelope is valid, its type is declared, its publisher owns the type, and its
 * details fit the type's schema. An event is judged by its type as it was when the event was stored, whenever it is
 * read; a type of the configuration as the file now has it. Pure.
 */
import { Result } from "effect"
import { decodeEnvelope, decodeToken, type Envelope, type Fault, findEvent } from "#base"
import { mayComeFromOutside } from "#bus"
import { cloudEventFaults } from "#events/cloudevents"
import { type EventType, under } from "./event-types.ts"

/** The types in force. */
export interface DeclaredTypes {
  /** The type as it was for the event at a place in EVENTS; for one that is not stored yet, `Infinity`. */
  readonly at: (name: string, sequence: number) => EventType | undefined
  readonly takesUndeclared: boolean
}

/** An event before it is judged. */
export interface GivenEvent {
  /** As it was published, parsed. */
  readonly envelope: unknown
  /** The publisher outside the fleet, as its subject names it; undefined for the fleet itself. */
  readonly from: string | undefined
  /** Its place in EVENTS; `Infinity` before it has one. */
  readonly sequence: number
}

/** A valid event. `isDeclared`: it is of the fleet's catalogue or of a declared type. */
export interface JudgedEvent {
  readonly envelope: Envelope
  readonly isDeclared: boolean
  /** Delivered only to endpoints whose filter asks for it. */
  readonly isOptIn: boolean
}

export const judgeEvent = (
  { envelope: given, from, sequence }: GivenEvent,
  types: DeclaredTypes
): Result.Result<JudgedEvent, ReadonlyArray<Fault>> => {
  const name = nameOf(given)
  if (from !== undefined && name !== undefined && !mayComeFromOutside(name)) {
    return refused("/event", `${name} is the fleet's own, and ${ownerOf(from)} published it`)
  }
  return Result.flatMap(decodeEnvelope(given), ({ envelope, known }) => {
    const isOptIn = findEvent(envelope.event)?.isProgress === true
    // A role of a later release may publish what this one does not know.
    if (from === undefined) {
      const type = known ? undefined : types.at(envelope.event, sequence)
      return Result.succeed({
        envelope,
        isDeclared: known || type !== undefined,
        isOptIn: isOptIn || type?.isOptIn === true
      })
    }
    const misplaced = envelope.cloudEvent === undefined ? [] : cloudEventFaults(envelope.cloudEvent)
    if (misplaced.length > 0) return Result.fail(under("/cloudEvent", misplaced))
    if (known) return Result.succeed({ envelope, isDeclared: true, isOptIn })
    const type = types.at(envelope.event, sequence)
    if (type === undefined) {
      return types.takesUndeclared
        ? Result.succeed({ envelope, isDeclared: false, isOptIn: false })
        : refused("/event", `no event type ${envelope.event} is declared`)
    }
    const faults = faultsByType(type, envelope, ownerOf(from))
    return faults.length > 0
      ? Result.fail(faults)
      : Result.succeed({ envelope, isDeclared: true, isOptIn: type.isOptIn })
  })
}

const nameOf = (given: unknown) =>
  typeof given === "object" && given !== null && "event" in given && typeof given.event === "string"
    ? given.event
    : undefined

const faultsByType = (type: EventType, envelope: Envelope, owner: string): ReadonlyArray<Fault> => {
  if (!type.owners.has(owner)) return [{ path: "/event", message: `${owner} is no owner of ${type.name}` }]
  return faultsOfContent(type, envelope)
}

/** Why nobody may publish a valid envelope as an event of that type. */
export const faultsOfContent = (type: EventType, envelope: Envelope): ReadonlyArray<Fault> => {
  if (type.isRetired) return [{ path: "/event", message: `${type.name} is retired` }]
  return under("/details", type.check(envelope.details ?? null))
}

const refused = (path: string, message: string) => Result.fail([{ path, message }])

const ownerOf = (from: string): string =>
  Result.getOrElse(
    Result.try(() => decodeToken(from)),
    () => from
  )
