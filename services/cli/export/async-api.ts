/** AsyncAPI 3.0 of a deployment's own event types: how they are published, and the POST that receivers get. Pure. */
import { subjects } from "#base"
import type { ExportedType } from "./exported-type.ts"

export const schemaFile = (event: string): string => `schemas/${event}.schema.json`

export const asyncApiOf = (types: ReadonlyArray<ExportedType>): Readonly<Record<string, unknown>> => {
  const of = (make: (type: ExportedType) => unknown) =>
    Object.fromEntries(types.map((type) => [type.event, make(type)]))
  const messageRef = ({ event }: ExportedType) => ({ $ref: `#/components/messages/${event}` })
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Your event types",
      version: "1.0.0",
      description: "Events of your own services, published on the bus and delivered as signed webhooks."
    },
    servers: {
      bus: {
        host: "127.0.0.1:4222",
        protocol: "nats",
        description: "NATS with JetStream, as a user that owns the type."
      },
      receiver: { host: "receiver.example", protocol: "https", description: "The Url of an endpoint." }
    },
    channels: {
      ...of((type) => ({
        address: subjects.event(type.event),
        servers: [{ $ref: "#/servers/bus" }],
        messages: { [type.event]: messageRef(type) }
      })),
      webhook: {
        address: "/",
        servers: [{ $ref: "#/servers/receiver" }],
        messages: of(messageRef),
        bindings: { http: {} }
      }
    },
    operations: {
      takeEvent: {
        action: "receive",
        channel: { $ref: "#/channels/webhook" },
        summary: "A receiver takes an event.",
        messages: types.map(({ event }) => ({ $ref: `#/channels/webhook/messages/${event}` }))
      },
      ...Object.fromEntries(
        types.map(({ event }) => [
          `publish.${event}`,
          {
            action: "send",
            channel: { $ref: `#/channels/${event}` },
            messages: [{ $ref: `#/channels/${event}/messages/${event}` }]
          }
        ])
      )
    },
    components: {
      messages: of(({ event, firedWhen, example }) => ({
        name: event,
        title: event,
        ...(firedWhen === "" ? {} : { summary: `Sent when ${firedWhen}.` }),
        contentType: "application/json",
        payload: { $ref: schemaFile(event) },
        examples: [{ payload: example }]
      }))
    }
  }
}
