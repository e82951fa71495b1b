/**
 * The envelope: the message published per event, and the body that receivers get. Each event has one schema, made from
 * its declaration; decoding reports every fault with its path. Names and fields that the catalogue does not know pass
 * as additive and are listed.
 */
import { Result, Schema, SchemaIssue } from "effect"
import type { EventDeclaration, Presence } from "./declaration.ts"
import { Project, Release, Usage, UsageTotal, WorkItem } from "./entities.ts"
import { type BoundedDecoder, boundedDecoder, pointedFaults } from "../json/decoding.ts"
import { findEvent } from "./catalogue.ts"
import { type Fault, Timestamp } from "../primitives.ts"

/** An event's name: lower-case tokens joined by dots, as in a subject. */
export const EventName = Schema.String.check(
  Schema.isPattern(/^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/u),
  Schema.isMaxLength(100)
)

const versionCharactersMax = 32

/** A semantic version with the supported major version. It goes into headers, so its length is bounded. */
export const SchemaVersion = Schema.String.check(
  Schema.isPattern(/^1\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/u),
  Schema.makeFilter((value) => value.length <= versionCharactersMax || "is too long for a version")
)

const OpenObject = Schema.Record(Schema.String, Schema.Unknown)

const CloudEventAttributes = Schema.StructWithRest(Schema.Struct({ id: Schema.String, source: Schema.String }), [
  Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Boolean, Schema.Int]))
])

const head = { eventSchemaVersion: SchemaVersion, occurredAt: Timestamp }
const costs = { usage: Schema.optionalKey(Usage), usageTotal: Schema.optionalKey(UsageTotal) }

/** The part common to every envelope. An event outside the catalogue is checked against this alone. */
export const Envelope = Schema.Struct({
  ...head,
  event: EventName,
  workItem: Schema.optionalKey(Schema.NullOr(WorkItem)),
  release: Schema.optionalKey(Release),
  project: Schema.optionalKey(Schema.NullOr(Project)),
  details: Schema.optionalKey(Schema.NullOr(OpenObject)),
  usage: Schema.optionalKey(Schema.NullOr(Usage)),
  usageTotal: Schema.optionalKey(Schema.NullOr(UsageTotal)),
  /** The other attributes of an event that came as a CloudEvent. */
  cloudEvent: Schema.optionalKey(CloudEventAttributes)
})
export interface Envelope extends Schema.Schema.Type<typeof Envelope> {}

const presence = <A, I>(schema: Schema.Codec<A, I>, present: Presence): Schema.Codec<A | null, I | null> => {
  if (present === "present") return schema
  return present === "null" ? Schema.Null : Schema.NullOr(schema)
}

const detailsOf = (declaration: EventDeclaration): Schema.Codec<unknown, unknown> => {
  if (declaration.details === "null") return Schema.Null
  return declaration.details === "open" ? Schema.NullOr(OpenObject) : declaration.details
}

/** The exact schema of one event's envelope. */
export const envelopeSchema = (declaration: EventDeclaration): Schema.Codec<unknown, unknown> =>
  Schema.Struct({
    ...head,
    event: Schema.Literal(declaration.name),
    ...(declaration.about === "release"
      ? { release: Release }
      : { workItem: presence(WorkItem, declaration.workItem) }),
    project: presence(Project, declaration.project),
    details: detailsOf(declaration),
    ...costs,
    ...(declaration.usageIsNull
      ? { usage: Schema.Null, usageTotal: Schema.optionalKey(Schema.NullOr(UsageTotal)) }
      : {})
  })

/** A valid envelope. `known`: its name is in the catalogue. `unknownFields`: JSON pointers of the additive fields. */
interface DecodedEnvelope {
  readonly envelope: Envelope
  readonly known: boolean
  readonly unknownFields: ReadonlyArray<string>
}

// Decoders are built on first use: building all of them would add a tenth of a second to every start.
const decoders = new Map<string, BoundedDecoder<unknown>>()
const decodeUnlisted: BoundedDecoder<unknown> = boundedDecoder(Envelope)

const decoderOf = (declaration: EventDeclaration): BoundedDecoder<unknown> => {
  const made = decoders.get(declaration.name)
  if (made !== undefined) return made
  const decoder = boundedDecoder(envelopeSchema(declaration))
  decoders.set(declaration.name, decoder)
  return decoder
}

/** Decodes an envelope from outside. The value itself is unchanged: unknown fields stay in it. */
export const decodeEnvelope = (input: unknown): Result.Result<DecodedEnvelope, ReadonlyArray<Fault>> => {
  const declaration = findEvent(nameOf(input))
  const decoded = (declaration === undefined ? decodeUnlisted : decoderOf(declaration))(input)
  if (Result.isFailure(decoded)) return Result.fail(pointedFaults(decoded.failure))
  const unknownFields = listUnknown(input as Record<string, unknown>, declaration)
  return Result.succeed({ envelope: input as Envelope, known: declaration !== undefined, unknownFields })
}

const nameOf = (input: unknown) =>
  typeof input === "object" && input !== null && "event" in input ? String(input.event) : ""

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

/** Every fault of a failed decoding, with its JSON pointer. */
export const faultsOf = (issue: SchemaIssue.Issue): ReadonlyArray<Fault> =>
  formatIssue(issue).issues.map(({ path, message }) => ({
    path: (path ?? []).map((part) => `/${String(typeof part === "object" ? part.key : part)}`).join(""),
    message
  }))

const envelopeFields = new Set(Object.keys(Envelope.fields))
const workItemFields = new Set(Object.keys(WorkItem.fields))

const listUnknown = (input: Record<string, unknown>, declaration: EventDeclaration | undefined) => {
  const unknown: Array<string> = []
  const look = (value: unknown, known: ReadonlySet<string>, at: string) => {
    if (typeof value !== "object" || value === null) return
    for (const key of Object.keys(value)) if (!known.has(key)) unknown.push(`${at}/${key}`)
  }
  look(input, envelopeFields, "")
  look(input["workItem"], workItemFields, "/workItem")
  const details = declaration === undefined ? undefined : knownDetails(declaration)
  if (details !== undefined) look(input["details"], details, "/details")
  return unknown
}

const detailsFields = new Map<string, ReadonlySet<string> | undefined>()

const knownDetails = (declaration: EventDeclaration) => {
  if (detailsFields.has(declaration.name)) return detailsFields.get(declaration.name)
  const found =
    declaration.details === "null" || declaration.details === "open" ? undefined : fieldNames(declaration.details)
  detailsFields.set(declaration.name, found)
  return found
}

const fieldNames = (schema: Schema.Codec<unknown, unknown>): ReadonlySet<string> => {
  const struct = "members" in schema ? (schema.members as ReadonlyArray<unknown>)[0] : schema
  const shape = struct as { readonly fields: Record<string, unknown> }
  return new Set(Object.keys(shape.fields))
}

// It goes into headers, and a publisher outside the fleet can choose any name.
const entityBytesMax = 256
const utf8 = new TextEncoder()

/**
 * The entity that an event concerns, for ordering: its work item, release, project or agent, or the subject of a
 * CloudEvent. Fleet-wide events have none. A very long name becomes its digest, so that its events keep their order too.
 */
export const entityOf = (envelope: Envelope): string | undefined => {
  const named = namedEntity(envelope)
  if (named === undefined || isShort(named)) return named
  return `${named.slice(0, named.indexOf(":"))}:digest:${digestOf(named)}`
}

const isShort = (text: string) => text.length <= entityBytesMax && utf8.encode(text).length <= entityBytesMax

// FNV-1a over UTF-16 units, twice. Two long names with the same digest would merely wait for each other.
const digestOf = (text: string): string => {
  let [first, second] = [0x811c9dc5, text.length]
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    first = Math.imul(first ^ unit, 0x01000193)
    second = Math.imul(second ^ unit, 0x01000193)
  }
  return [first, second].map((half) => (half >>> 0).toString(16).padStart(8, "0")).join("")
}

const namedEntity = (envelope: Envelope): string | undefined => {
  if (envelope.workItem != null) return `workItem:${envelope.workItem.id}`
  if (envelope.release !== undefined) return `release:${envelope.release.id}`
  const details = envelope.details ?? {}
  const item = details["workItemId"]
  if (typeof item === "string") return `workItem:${item}`
  const project = envelope.project?.id ?? details["projectId"]
  if (typeof project === "string") return `project:${project}`
  const agent = details["agent"] ?? details["agentKind"]
  if (typeof agent === "string") return `agent:${agent}`
  const subject = envelope.cloudEvent?.["subject"]
  return typeof subject === "string" ? `subject:${subject}` : undefined
}
