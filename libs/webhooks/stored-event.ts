/** An event as stored in EVENTS, checked against its schema. */
import { Result } from "effect"
import { mayComeFromOutside, type SourceMessage } from "#bus"
import {
  decodeEnvelope,
  entityOf,
  type Envelope,
  type Fault,
  parseUnambiguousJson,
  storedEventName,
  unmarked
} from "#base"

/** An event that passed its schema. Times in epoch milliseconds. */
export interface StoredEvent {
  readonly sequence: number
  readonly storedAtMs: number
  readonly event: string
  /** The user outside the fleet that published it; absent for one of the fleet's own. */
  readonly from?: string | undefined
  readonly schemaVersion: string
  readonly entity: string | undefined
  readonly envelope: Envelope
  /** As published, without a byte order mark. */
  readonly body: Uint8Array
}

/** A valid event. `known`: its name is in the catalogue. */
export interface ReadEvent {
  readonly event: StoredEvent
  readonly known: boolean
}

/**
 * Checks the envelope against its schema, but keeps the original bytes: receivers get, and signatures cover, exactly
 * what was published, without a byte order mark.
 */
export const readStoredEvent = (message: SourceMessage): Result.Result<ReadEvent, ReadonlyArray<Fault>> =>
  parseUnambiguousJson(message.data).pipe(
    Result.flatMap(decodeEnvelope),
    Result.flatMap(({ envelope, known }) => {
      const fault = misplaced(envelope.event, message.subject)
      if (fault !== undefined) return Result.fail([{ path: "/event", message: fault }])
      const event: StoredEvent = {
        sequence: message.sequence,
        storedAtMs: message.storedAtMs,
        event: envelope.event,
        from: storedEventName(message.subject)?.from,
        schemaVersion: envelope.eventSchemaVersion,
        entity: entityOf(envelope),
        envelope,
        body: unmarked(message.data)
      }
      return Result.succeed({ event, known })
    })
  )

/** Why an event is not allowed on a subject. The broker itself lets no outside user publish an actor's event. */
const misplaced = (event: string, subject: string) => {
  const stored = storedEventName(subject)
  if (stored?.name !== event) return `${event} was published to ${subject}`
  if (stored.from === undefined || mayComeFromOutside(event)) return undefined
  return `${event} is the fleet's own, and ${stored.from} published it`
}
