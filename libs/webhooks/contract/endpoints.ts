/**
 * Webhook endpoints that are made at run time: what an operator may say of one, checked by the schema of the
 * configuration file, and the record that its bucket keeps.
 */
import { Result, Schema, Struct } from "effect"
import { EndpointEntry } from "./settings.ts"
import { boundedDecoder, Count, EpochMs, type Fault, Ordinal, pointedFaults, text, Timestamp } from "#base"

/**
 * An endpoint as it stands in the configuration, without the variables of secrets: they come with a request. A name that
 * an earlier release took is still one; a new one is held to `faultOfName`.
 */
export const EndpointSettings = EndpointEntry.mapFields(
  Struct.omit(["SecretEnvVar", "StandardWebhooksSecretEnvVar"])
).mapFields(Struct.assign({ Name: Schema.String.check(Schema.isBetweenLength(1, 100)) }))
export interface EndpointSettings extends Schema.Schema.Type<typeof EndpointSettings> {}

const decode = boundedDecoder(EndpointSettings, { onExcessProperty: "error" })

/** Checks the settings of an endpoint and fills in what they leave out. Faults have JSON pointers as paths. */
export const decodeEndpointSettings = (input: unknown): Result.Result<EndpointSettings, ReadonlyArray<Fault>> =>
  Result.mapError(decode(input), pointedFaults)

/** A sealed secret, and how long it still signs: the newest has no end. */
export const KeptSecret = Schema.Struct({ sealed: Schema.String, notAfterMs: Schema.NullOr(EpochMs) })
export interface KeptSecret extends Schema.Schema.Type<typeof KeptSecret> {}

const KeptSecrets = Schema.Array(KeptSecret).check(Schema.isMaxLength(2))

/** Who did something, and when. */
export const Act = Schema.Struct({ at: Timestamp, by: Schema.String })
export interface Act extends Schema.Schema.Type<typeof Act> {}

/**
 * An endpoint made at run time. `settings` is kept as it was given and decoded when it is read, so that a later release
 * may add keys. `revision` counts the changes that operators made. `startsAfter`: the last event that is not its own.
 * `goesOn`: it was made in the place of one that had left the configuration file, and has what that one had yet to get.
 */
export const EndpointRecord = Schema.Struct({
  name: text(100),
  revision: Ordinal,
  settings: Schema.Record(Schema.String, Schema.Unknown),
  /** The receiver's own headers, as sealed JSON: they may hold keys. Null: none. */
  headers: Schema.NullOr(Schema.String),
  secrets: KeptSecrets,
  standardWebhooksSecrets: KeptSecrets,
  isEnabled: Schema.Boolean,
  startsAfter: Count,
  goesOn: Schema.optionalKey(Schema.Boolean),
  created: Act,
  changed: Act,
  /** Set while a removed endpoint's deliveries are being put away; then the record goes. */
  removed: Schema.NullOr(Act)
})
export interface EndpointRecord extends Schema.Schema.Type<typeof EndpointRecord> {}

/** A running dispatcher: the last change of endpoints that it acts on, and the lanes it was set to, one where absent. */
export const DispatcherPresence = Schema.Struct({ actsOn: Count, lanes: Schema.optionalKey(Ordinal) })
export interface DispatcherPresence extends Schema.Schema.Type<typeof DispatcherPresence> {}
