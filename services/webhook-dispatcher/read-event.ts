/**
 * A message of EVENTS as the fan-out needs it. The envelope is checked against its schema, but the bytes
 * are kept as they came: receivers get, and signatures cover, exactly what was published.
 */
import { Result } from "effect"
import { decodeEnvelope, entityOf, type Fault, subjects } from "#contracts"
import { parseJson, type SourceMessage } from "#bus"
import type { FanOutEvent } from "./fan-out-plan.ts"

/** A good event, with what of it the catalogue does not know. */
export interface ReadEvent {
  readonly event: FanOutEvent
  readonly known: boolean
  readonly unknownFields: ReadonlyArray<string>
}

export const readEvent = (message: SourceMessage): Result.Result<ReadEvent, ReadonlyArray<Fault>> =>
  parseJson(message.data).pipe(
    Result.flatMap(decodeEnvelope),
    Result.flatMap(({ envelope, known, unknownFields }) => {
      if (message.subject !== subjects.event(envelope.event)) {
        return Result.fail([{ path: "/event", message: `${envelope.event} was published to ${message.subject}` }])
      }
      const event: FanOutEvent = {
        sequence: message.sequence,
        storedAtMs: message.storedAtMs,
        event: envelope.event,
        schemaVersion: envelope.eventSchemaVersion,
        entity: entityOf(envelope),
        body: message.data
      }
      return Result.succeed({ event, known, unknownFields })
    })
  )
