/**
 * Webhook endpoints created at run time: the settings that an operator can give, checked by the schema of the
 * configuration file, and the record that their bucket keeps.
 */
import { Result, Schema, Struct } from "effect"
import { EndpointEntry, endpointRule, secretKeys } from "./settings.ts"
import { boundedDecoder, Count, EpochMs, type Fault, Ordinal, pointedFaults, text, Timestamp } from "#base"

/**
 * An endpoint as configured, without the variables and files of secrets: those come with a request. A name that an
 * earlier release accepted remains valid; a new one must pass `faultOfName`.
 */
export const EndpointSettings = EndpointEntry.mapFields(Struct.omit(secretKeys)).mapFields(
  Struct.assign({ Name: Schema.String.check(Schema.isBetweenLength(1, 100)) })
)
export interface EndpointSettings extends Schema.Schema.Type<typeof EndpointSettings> {}

const decode = boundedDecoder(EndpointSettings, { onExcessProperty: "error" })

/** Checks the settings of an endpoint and fills in defaults. Faults have JSON pointers as paths. */
export const decodeEndpointSettings = (input: unknown): Result.Result<EndpointSettings, ReadonlyArray<Fault>> =>
  Result.flatMap(Result.mapError(decode(input), pointedFaults), (settings) => {
    const rule = endpointRule(settings)
    return rule === true ? Result.succeed(settings) : Result.fail([{ path: "", message: rule }])
  })

const decodeFilters = boundedDecoder(EndpointSettings.mapFields(Struct.pick(["EventFilter", "ContentFilter"])), {
  onExcessProperty: "error"
})

/** The same for its filters alone. */
export const decodeEndpointFilters = (input: unknown) => Result.mapError(decodeFilters(input), pointedFaults)

/** A sealed secret, and how long it still signs: the newest has no end. */
export const KeptSecret = Schema.Struct({ sealed: Schema.String, notAfterMs: Schema.NullOr(EpochMs) })
export interface KeptSecret extends Schema.Schema.Type<typeof KeptSecret> {}

const KeptSecrets = Schema.Array(KeptSecret).check(Schema.isMaxLength(2))

/** Who did something, and when. */
export const Act = Schema.Struct({ at: Timestamp, by: Schema.String })
export interface Act extends Schema.Schema.Type<typeof Act> {}

/**
 * An endpoint created at run time. `settings` is stored as given and decoded when read, so that a later release can add
 * keys. `revision` counts operators' changes. `startsAfter`: the last event before its own. `goesOn`: it was created in
 * place of one that had left the configuration file, and inherits that one's outstanding events.
 */
export const EndpointRecord = Schema.Struct({
  name: text(100),
  revision: Ordinal,
  settings: Schema.Record(Schema.String, Schema.Unknown),
  /** The receiver's own headers, as sealed JSON: they may hold keys. Null: none. */
  headers: Schema.NullOr(Schema.String),
  secrets: KeptSecrets,
  standardWebhooksSecrets: KeptSecrets,
  /** As sealed JSON. Null or absent: none. */
  credentials: Schema.optionalKey(Schema.NullOr(Schema.String)),
  isEnabled: Schema.Boolean,
  startsAfter: Count,
  goesOn: Schema.optionalKey(Schema.Boolean),
  created: Act,
  changed: Act,
  /** Set while a removed endpoint's deliveries are being archived; the record is deleted afterwards. */
  removed: Schema.NullOr(Act)
})
export interface EndpointRecord extends Schema.Schema.Type<typeof EndpointRecord> {}

/**
 * A running dispatcher: the latest endpoint change that it acts on, and its configured number of lanes, one if absent.
 */
export const DispatcherPresence = Schema.Struct({ actsOn: Count, lanes: Schema.optionalKey(Ordinal) })
export interface DispatcherPresence extends Schema.Schema.Type<typeof DispatcherPresence> {}
