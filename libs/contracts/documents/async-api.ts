/**
 * AsyncAPI 3.0 of what is said around the pipeline: events that internal services may publish and the POST that
 * receivers get; reports, commands and pickup. Pure; docs/asyncapi.json is written from it and a test fails when the file is stale.
 */
import { eventCatalogue } from "../events/catalogue.ts"
import type { EventDeclaration } from "../events/declaration.ts"
import { eventSchemaVersion } from "../events/schema-version.ts"
import { subjects } from "../subjects.ts"
import { pipelineChannels, pipelineMessages, pipelineOperations, pipelineSchemas } from "./pipeline-channels.ts"
import { eventJsonSchema, sharedDefinitions } from "./event-json-schema.ts"

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
    schemas: {
      ...sharedDefinitions(schemaRefs),
      ...pipelineSchemas(schemaRefs),
      ...Object.fromEntries(eventCatalogue.map((event) => [event.name, payloadSchema(event)]))
    },
    securitySchemes: {
      user: {
        type: "userPassword",
        description:
          "A user of the broker: `internal-services`, whose password `./starling up` prints, may publish what no actor tells, report, ask, and read events."
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

const payloadSchema = (event: EventDeclaration) => {
  const { $schema: _dialect, $id: _id, ...schema } = eventJsonSchema(event, schemaRefs)
  return schema
}

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

const headers = {
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
  headers,
  payload: { $ref: `#/components/schemas/${event.name}` }
})
