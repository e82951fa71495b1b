/**
 * AsyncAPI 3.0 of the pipeline's messages: events, the POST that receivers get, and the reports, commands and pickup
 * requests that runners, internal services and operators send. An event's payload is its own schema's file. Pure; a
 * test fails when docs/asyncapi.json is stale.
 *
 * JSON Schema 2020-12 of each event's envelope, made from the schemas that decode it. Definitions that events share
 * (work item, project, usage, ...) are listed once, at `refPrefix`.
 */
import { Schema } from "effect"
import {
  envelopeSchema,
  eventCatalogue,
  type EventDeclaration,
  eventSchemaVersion,
  exampleValue,
  subjects
} from "#base"
import { CommandAnswer, commandEntities, CommandRequest } from "../commands.ts"
import { HeldAnswer, HeldQuestion, PickupAnswer, PickupQuestion } from "../pickup.ts"
import { type ReportDeclaration, reportKinds } from "../reports.ts"

type JsonObject = Record<string, unknown>

const dialect = "https://json-schema.org/draft/2020-12/schema"

/** The file of the definitions that events share. */
export const sharedSchemaFile = "shared.schema.json"

const documentOf = (event: EventDeclaration) => Schema.toJsonSchemaDocument(envelopeSchema(event))

const withRefs = (schema: unknown, refPrefix: string): JsonObject =>
  JSON.parse(JSON.stringify(schema).replaceAll("#/$defs/", refPrefix)) as JsonObject

/** From the folder of the documents. */
const eventFile = ({ name }: EventDeclaration) => `events/${name}.schema.json`

/** The schema of one event; its references point below `refPrefix`. */
export const eventJsonSchema = (event: EventDeclaration, refPrefix = `${sharedSchemaFile}#/$defs/`): JsonObject => ({
  $schema: dialect,
  $id: `${event.name}.schema.json`,
  title: event.name,
  description: `Sent when ${event.firedWhen}.`,
  ...withRefs(documentOf(event).schema, refPrefix)
})

/** The schema of one event including its definitions, without external references. */
export const eventSchema = (event: EventDeclaration): JsonObject => ({
  ...eventJsonSchema(event, "#/$defs/"),
  $defs: documentOf(event).definitions
})

/** The definitions that the events' schemas refer to, by name. */
export const sharedDefinitions = (refPrefix = "#/$defs/"): JsonObject => {
  const definitions: JsonObject = {}
  for (const event of eventCatalogue) Object.assign(definitions, documentOf(event).definitions)
  return withRefs(definitions, refPrefix)
}

export const sharedJsonSchema = (): JsonObject => ({
  $schema: dialect,
  $id: sharedSchemaFile,
  title: "What the events share",
  $defs: sharedDefinitions()
})

export const asyncApiDocument = (): Record<string, unknown> => ({
  asyncapi: "3.0.0",
  info: {
    title: "Starling pipeline",
    version: eventSchemaVersion,
    description:
      "Events of the work-item pipeline, published on the bus and delivered as signed webhooks; and what runners, internal services and operators tell and ask the pipeline."
  },
  servers: {
    bus: {
      host: "127.0.0.1:4222",
      protocol: "nats",
      description: "NATS with JetStream: streams EVENTS and REPORTS. A user's answers come below `_INBOX_<user>`.",
      security: [{ $ref: "#/components/securitySchemes/user" }]
    },
    receiver: { host: "receiver.example", protocol: "https", description: "The Url of a configured endpoint." }
  },
  channels: {
    ...Object.fromEntries(eventCatalogue.map((event) => [event.name, busChannel(event)])),
    webhook: webhookChannel,
    ...pipelineChannels()
  },
  operations: {
    publishEvent: {
      action: "receive",
      channel: { $ref: "#/channels/webhook" },
      summary: "A receiver takes an event.",
      messages: eventCatalogue.map((event) => ({ $ref: `#/channels/webhook/messages/${event.name}` }))
    },
    ...Object.fromEntries(eventCatalogue.map((event) => [`publish.${event.name}`, publishOperation(event)])),
    ...pipelineOperations()
  },
  components: {
    messages: {
      ...Object.fromEntries(eventCatalogue.map((event) => [event.name, message(event)])),
      ...pipelineMessages()
    },
    schemas: { WebhookHeaders: webhookHeaders, ...pipelineSchemas(schemaRefs) },
    securitySchemes: {
      user: {
        type: "userPassword",
        description:
          "A user of the broker: `internal-services`, whose password `./starling up` prints, may publish what no actor tells, report, ask, and read events. The user `runners` may ask for work and report."
      },
      signature: {
        type: "httpApiKey",
        in: "header",
        name: "X-Service-Signature",
        description: "sha256= and the lower-case hex HMAC-SHA256 of the raw body, when the endpoint has a secret."
      }
    }
  }
})

const schemaRefs = "#/components/schemas/"

const messageRef = (event: EventDeclaration) => ({ $ref: `#/components/messages/${event.name}` })

const busChannel = (event: EventDeclaration) => ({
  address: subjects.event(event.name),
  servers: [{ $ref: "#/servers/bus" }],
  messages: { [event.name]: messageRef(event) }
})

const webhookChannel = {
  address: "/",
  servers: [{ $ref: "#/servers/receiver" }],
  messages: Object.fromEntries(eventCatalogue.map((event) => [event.name, messageRef(event)])),
  bindings: { http: {} }
}

const publishOperation = (event: EventDeclaration) => ({
  action: "send",
  channel: { $ref: `#/channels/${event.name}` },
  summary: `An internal service says that ${event.firedWhen}.`,
  messages: [{ $ref: `#/channels/${event.name}/messages/${event.name}` }]
})

const webhookHeaders = {
  type: "object",
  properties: {
    "Content-Type": { const: "application/json; charset=utf-8" },
    "X-Service-Event": { type: "string", description: "The event's name." },
    "X-Service-Delivery": { type: "string", format: "uuid", description: "The same over all attempts of a delivery." },
    "X-Service-Schema-Version": { type: "string", description: "Equal to eventSchemaVersion in the body." },
    "X-Service-Signature": { type: "string", pattern: "^sha256=[0-9a-f]{64}$" },
    "X-Service-Sequence": { type: "integer", description: "The event's place in the log." },
    "X-Service-Redrive-Of": { type: "string", format: "uuid", description: "The delivery that is sent again." }
  }
}

const message = (event: EventDeclaration) => ({
  name: event.name,
  title: event.name,
  summary: `Sent when ${event.firedWhen}.`,
  contentType: "application/json",
  headers: { $ref: `${schemaRefs}WebhookHeaders` },
  payload: { $ref: eventFile(event) }
})

/** A message of the document. Its channel and its schema have the same name. */
interface BusMessage {
  readonly name: string
  readonly summary: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly hasExample?: true
}

const reports: ReadonlyArray<readonly [kind: string, ReportDeclaration]> = Object.entries(reportKinds)
const entities = Object.entries(commandEntities)

const reportMessages: ReadonlyArray<BusMessage> = reports.map(([kind, { why, schema }]) => ({
  name: `report.${kind}`,
  summary: `Says that ${why}.`,
  schema,
  hasExample: true
}))

const question = { name: "pickup", summary: "A runner asks for something to do.", schema: PickupQuestion }
const answer = { name: "pickup.answer", summary: "One phase of one item, or nothing.", schema: PickupAnswer }
const held = { name: "held", summary: "A runner asks whether its dispatch still holds.", schema: HeldQuestion }
const heldAnswer = { name: "held.answer", summary: "It holds, or it is over: stop.", schema: HeldAnswer }

/** A request whose `command` is one of that entity's commands. */
const requestOf = (entity: keyof typeof commandEntities) =>
  Schema.Struct({ ...CommandRequest.fields, command: commandEntities[entity].schema as Schema.Codec<unknown, unknown> })

const commandMessages: ReadonlyArray<BusMessage> = entities.map(([entity, { why }]) => ({
  name: `command.${entity}`,
  summary: `A command for ${why}.`,
  schema: requestOf(entity as keyof typeof commandEntities)
}))
const commandAnswer = { name: "command.answer", summary: "What became of a command.", schema: CommandAnswer }

const busMessages: ReadonlyArray<BusMessage> = [
  ...reportMessages,
  question,
  answer,
  held,
  heldAnswer,
  ...commandMessages,
  commandAnswer
]

const onBus = { servers: [{ $ref: "#/servers/bus" }] }
const messagesOf = (name: string) => ({ [name]: { $ref: `#/components/messages/${name}` } })
const channel = (address: string | null, name: string) => ({ address, ...onBus, messages: messagesOf(name) })

const pipelineChannels = (): JsonObject => ({
  ...Object.fromEntries(reports.map(([kind]) => [`report.${kind}`, channel(subjects.report(kind), `report.${kind}`)])),
  pickup: {
    ...channel("pickup.next.{agentKind}", "pickup"),
    parameters: { agentKind: { description: "The agent kind, encoded as a subject's token." } }
  },
  // The reply goes to the asker's own inbox.
  "pickup.answer": channel(null, "pickup.answer"),
  held: channel(subjects.pickupHeld, "held"),
  "held.answer": channel(null, "held.answer"),
  ...Object.fromEntries(
    entities.map(([entity]) => [`command.${entity}`, channel(subjects.commands(entity), `command.${entity}`)])
  ),
  "command.answer": channel(null, "command.answer")
})

const withoutAnswer =
  "An empty answer says in its header why: `Starling-Refused` names the faults of the question, `Starling-Busy` says that too many are being answered, ask again."

const operation = (name: string, summary: string, reply?: string) => ({
  action: "send",
  channel: { $ref: `#/channels/${name}` },
  summary,
  messages: [{ $ref: `#/channels/${name}/messages/${name}` }],
  ...(reply === undefined
    ? {}
    : {
        description: withoutAnswer,
        reply: {
          channel: { $ref: `#/channels/${reply}` },
          messages: [{ $ref: `#/channels/${reply}/messages/${reply}` }]
        }
      })
})

const pipelineOperations = (): JsonObject => ({
  ...Object.fromEntries(reportMessages.map(({ name, summary }) => [`publish.${name}`, operation(name, summary)])),
  "ask.pickup": operation("pickup", question.summary, "pickup.answer"),
  "ask.held": operation("held", held.summary, "held.answer"),
  ...Object.fromEntries(
    commandMessages.map(({ name, summary }) => [`ask.${name}`, operation(name, summary, "command.answer")])
  )
})

const pipelineMessages = (): JsonObject =>
  Object.fromEntries(
    busMessages.map(({ name, summary, schema, hasExample }) => [
      name,
      {
        name,
        title: name,
        summary,
        contentType: "application/json",
        payload: { $ref: `#/components/schemas/${name}` },
        ...(hasExample === undefined ? {} : { examples: [{ payload: exampleValue(schema) }] })
      }
    ])
  )

/** The schemas of every message and everything they refer to; references point below `refPrefix`. */
const pipelineSchemas = (refPrefix: string): JsonObject => {
  const found: JsonObject = {}
  for (const { name, schema } of busMessages) {
    const { schema: body, definitions } = Schema.toJsonSchemaDocument(schema)
    Object.assign(found, definitions, { [name]: body })
  }
  return JSON.parse(JSON.stringify(found).replaceAll("#/$defs/", refPrefix)) as JsonObject
}

interface GeneratedDocument {
  readonly path: string
  readonly content: string
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

export const contractDocuments = (): ReadonlyArray<GeneratedDocument> => [
  { path: "docs/asyncapi.json", content: json(asyncApiDocument()) },
  { path: `docs/events/${sharedSchemaFile}`, content: json(sharedJsonSchema()) },
  ...eventCatalogue.map((event) => ({
    path: `docs/${eventFile(event)}`,
    content: json(eventJsonSchema(event))
  }))
]
