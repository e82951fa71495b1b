/**
 * Event types: what a deployment's own services may publish. Declared in the configuration, or at run time as records
 * of a bucket; both have the same keys.
 */
import { Result, Schema } from "effect"
import {
  boundedDecoder,
  Count,
  EventName,
  type Fault,
  isName,
  optional,
  Ordinal,
  pointedFaults,
  required,
  SchemaVersion,
  text,
  Timestamp,
  withDefault
} from "#base"

/** A user of the broker, or a token of our HTTP APIs by its label. */
export const Owner = Schema.String.check(
  Schema.isPattern(/^(?:[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?|token:.{1,100})$/u),
  isName
)

/** More owners than this are better served by one token that they share. */
const ownersMax = 16

const JsonObject = Schema.Record(Schema.String, Schema.Unknown)

/** One event type. */
export const EventTypeEntry = Schema.Struct({
  Name: required(EventName, "The event's name: lower-case tokens joined by dots, as in its subject."),
  Owners: required(
    Schema.Array(Owner).check(Schema.isMinLength(1), Schema.isMaxLength(ownersMax)),
    "Who may publish it: users of the broker (`internal-services`), and tokens by their label (`token:billing`)."
  ),
  Description: optional(text(500), "When it is published, for who chooses events."),
  Schema: optional(
    JsonObject,
    "The JSON Schema (2020-12) of `details`, of at most 64 kB and 32 levels; without it, any object or null."
  ),
  Example: optional(JsonObject, "Details of an example, which the schema must accept; tests of endpoints send it."),
  SchemaVersion: withDefault(
    SchemaVersion,
    "1.0.0",
    "The version of its schema, for receivers; CloudEvents of this type are delivered with it."
  ),
  OptIn: withDefault(
    Schema.Boolean,
    false,
    "Whether it goes only to endpoints whose filter asks for it, as progress events do."
  ),
  Retired: withDefault(
    Schema.Boolean,
    false,
    "A retired type is refused. Retired here, also its events that still wait; at run time only those after it."
  )
})
export interface EventTypeEntry extends Schema.Schema.Type<typeof EventTypeEntry> {}

const decode = boundedDecoder(EventTypeEntry, { onExcessProperty: "error" })

/** Checks an event type as given and fills in its defaults; its schema is checked elsewhere. */
export const decodeEventType = (input: unknown): Result.Result<EventTypeEntry, ReadonlyArray<Fault>> =>
  Result.mapError(decode(input), pointedFaults)

/** What held for the events after one place in EVENTS. */
const Tenure = Schema.Struct({ startsAfter: Count, settings: JsonObject })

/**
 * An event type declared at run time. `settings` is stored as given and decoded when read, so that a later release can
 * add keys; they hold for events after `startsAfter`. `past`: what held before, the latest first, so that an event
 * which is read late is judged as it was when it was stored. `revision` counts operators' changes.
 */
export const EventTypeRecord = Schema.Struct({
  name: EventName,
  revision: Ordinal,
  ...Tenure.fields,
  past: Schema.Array(Tenure).check(Schema.isMaxLength(8)),
  created: Schema.Struct({ at: Timestamp, by: Schema.String }),
  changed: Schema.Struct({ at: Timestamp, by: Schema.String })
})
export interface EventTypeRecord extends Schema.Schema.Type<typeof EventTypeRecord> {}
