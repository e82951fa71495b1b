/** An event as stored in EVENTS, checked against its schema. */
import { Result } from "effect"
import type { SourceMessage } from "#bus"
import { type DeclaredTypes, judgeEvent, openEvent } from "#events"
import { decodeEnvelope, entityOf, type Envelope, type Fault, storedEventName } from "#base"
import { unmarked } from "#base/json"

/** An event that passed its schema. Times in epoch milliseconds. */
export interface StoredEvent {
  readonly sequence: number
  readonly storedAtMs: number
  readonly event: string
  /** The user outside the fleet that published it; absent for one of the fleet's own. */
  readonly from?: string | undefined
  /** Delivered only to endpoints whose filter asks for it. */
  readonly isOptIn?: boolean
  readonly schemaVersion: string
  readonly entity: string | undefined
  /** Of the trace in which it was published. */
  readonly traceparent?: string | undefined
  readonly envelope: Envelope
  /** As published, without a byte order mark; an envelope, where a CloudEvent was published. */
  readonly body: Uint8Array
}

/** A valid event. `isDeclared`: its type is one of the fleet's or declared. */
export interface ReadEvent {
  readonly event: StoredEvent
  readonly isDeclared: boolean
}

/** A CloudEvent has the version of its type, as that was for this event. */
const opened = (message: SourceMessage, types?: DeclaredTypes) =>
  openEvent(message, {
    receivedAtMs: message.storedAtMs,
    schemaVersionOf: (name) => types?.at(name, message.sequence)?.schemaVersion
  })

/** The bytes that receivers get; of a message that cannot be read, those that were published. */
export const storedEventBody = (message: SourceMessage, types?: DeclaredTypes): Uint8Array =>
  Result.getOrElse(opened(message, types), () => ({ body: unmarked(message.data) })).body

/** As W3C Trace Context 1 writes it: a publisher can write anything there. */
const traceparentOf = ({ header }: SourceMessage) => {
  const given = header("traceparent")
  return given !== undefined && /^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/u.test(given) ? given : undefined
}

/** The envelope and its bytes, if it is valid. */
export const decodeStoredEvent = (message: SourceMessage) =>
  Result.flatMap(opened(message), ({ envelope, body }) =>
    Result.map(decodeEnvelope(envelope), (decoded) => ({ ...decoded, body }))
  )

/**
 * Judges the event by the types that held when it was stored, but keeps the original bytes: receivers get, and
 * signatures cover, exactly what was published, without a byte order mark.
 */
export const readStoredEvent = (
  message: SourceMessage,
  types: DeclaredTypes
): Result.Result<ReadEvent, ReadonlyArray<Fault>> => {
  const { subject, sequence, storedAtMs } = message
  const { name, from } = storedEventName(subject) ?? {}
  return Result.flatMap(opened(message, types), ({ envelope: given, body }) =>
    Result.flatMap(judgeEvent({ envelope: given, from, sequence }, types), ({ envelope, isDeclared, isOptIn }) => {
      if (envelope.event !== name) {
        return Result.fail([{ path: "/event", message: `${envelope.event} was published to ${subject}` }])
      }
      const event: StoredEvent = {
        sequence,
        storedAtMs,
        event: envelope.event,
        from,
        isOptIn,
        schemaVersion: envelope.eventSchemaVersion,
        entity: entityOf(envelope),
        traceparent: traceparentOf(message),
        envelope,
        body
      }
      return Result.succeed({ event, isDeclared })
    })
  )
}
