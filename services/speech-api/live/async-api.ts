/**
 * The live connections described as AsyncAPI 3.0: every message in both directions, from the schemas that decode them.
 * Pure.
 */
import { Schema } from "effect"
import {
  cartesiaPath,
  CartesiaCancel,
  CartesiaRequest,
  elevenLabsMultiPath,
  ElevenLabsMessage,
  ElevenLabsQuery,
  elevenLabsPath,
  LiveClientMessage,
  liveCloseCodes,
  liveLimits,
  livePath,
  liveProtocol,
  LiveServerMessage,
  liveTokenPrefix,
  newestVersion
} from "#speech/api"
import type { JsonObject } from "#http"

interface Message {
  readonly name: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly description: string
}

const schemasOf = (messages: ReadonlyArray<Message>): JsonObject => {
  const found: JsonObject = {}
  for (const { name, schema } of messages) {
    const { definitions, schema: body } = Schema.toJsonSchemaDocument(schema)
    Object.assign(found, definitions)
    found[name] ??= body
  }
  return JSON.parse(JSON.stringify(found).replaceAll("#/$defs/", "#/components/schemas/")) as JsonObject
}

const messagesIn = (schemas: ReadonlyArray<Schema.Codec<unknown, unknown>>): ReadonlyArray<Message> =>
  schemas.map((schema) => {
    const { description, identifier } = (Schema.resolveAnnotations(schema) ?? {}) as Readonly<Record<string, unknown>>
    return { name: String(identifier), schema, description: String(description) }
  })

const received = messagesIn(LiveClientMessage.members)
const sent = messagesIn(LiveServerMessage.members)
const ofVendors: ReadonlyArray<Message> = [
  {
    name: "ElevenLabsMessage",
    schema: ElevenLabsMessage,
    description: "Of ElevenLabs' clients, as far as it is followed."
  },
  { name: "CartesiaRequest", schema: CartesiaRequest, description: "Of Cartesia's clients, as far as it is followed." },
  { name: "CartesiaCancel", schema: CartesiaCancel, description: "Ends a context of Cartesia's clients at once." }
]

const parametersOf = (path: string) =>
  path.includes(":voice_id")
    ? { parameters: { voice_id: { description: "A voice of ours, or one of `VendorVoices`." } } }
    : {}

/** Only ElevenLabs' routes have one. */
const queryOf = (path: string) =>
  path.includes(":voice_id") ? { query: Schema.toJsonSchemaDocument(ElevenLabsQuery).schema } : {}

const channel = (path: string, description: string, messages: ReadonlyArray<Message>) => ({
  address: path.replace(":voice_id", "{voice_id}"),
  description,
  ...parametersOf(path),
  messages: Object.fromEntries(messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }])),
  bindings: { ws: { method: "GET", ...queryOf(path) } }
})

interface Operation {
  readonly action: "send" | "receive"
  readonly channel: string
  readonly summary: string
  readonly messages: ReadonlyArray<Message>
}

const operation = ({ action, channel: on, messages, summary }: Operation) => ({
  action,
  channel: { $ref: `#/channels/${on}` },
  summary,
  messages: messages.map(({ name }) => ({ $ref: `#/channels/${on}/messages/${name}` }))
})

const ofSsml = "with `enable_ssml_parsing=true` in the query the text has elements of SSML."
const ofElevenLabs = ofVendors.slice(0, 1)
const ofCartesia = ofVendors.slice(1)

/** `send` is what we send, `receive` what we accept. */
export const speechAsyncApi = (): JsonObject => ({
  asyncapi: "3.0.0",
  info: {
    title: "Starling live speech",
    version: newestVersion,
    description:
      `WebSockets that take text while it is written, and speak it. Every message is one text frame of JSON. A page offers the ` +
      `subprotocols \`${liveProtocol}\` and \`${liveTokenPrefix}<token>\`.`
  },
  servers: {
    "speech-api": {
      host: "127.0.0.1:7403",
      protocol: "ws",
      security: [{ $ref: "#/components/securitySchemes/token" }]
    }
  },
  channels: {
    live: channel(livePath, "Contexts of our own messages.", [...received, ...sent]),
    elevenLabs: channel(elevenLabsPath, `One context, in ElevenLabs' messages; ${ofSsml}`, ofElevenLabs),
    elevenLabsMulti: channel(elevenLabsMultiPath, `Several contexts, in ElevenLabs' messages; ${ofSsml}`, ofElevenLabs),
    cartesia: channel(
      cartesiaPath,
      "Contexts, in Cartesia's messages; a transcript with tags of its own is refused.",
      ofCartesia
    )
  },
  operations: {
    takeText: operation({ action: "receive", channel: "live", summary: "What a client asks.", messages: received }),
    speak: operation({ action: "send", channel: "live", summary: "What a context says.", messages: sent }),
    ...Object.fromEntries(
      ["elevenLabs", "elevenLabsMulti", "cartesia"].map((on) => [
        `${on}.takeText`,
        operation({
          action: "receive",
          channel: on,
          summary: "What a client asks.",
          messages: on === "cartesia" ? ofCartesia : ofElevenLabs
        })
      ])
    )
  },
  components: {
    messages: Object.fromEntries(
      [...received, ...sent, ...ofVendors].map(({ name, description }) => [
        name,
        {
          name,
          summary: description,
          contentType: "application/json",
          payload: { $ref: `#/components/schemas/${name}` }
        }
      ])
    ),
    schemas: schemasOf([...received, ...sent, ...ofVendors]),
    securitySchemes: {
      token: { type: "http", scheme: "bearer", description: "A token with the scope `audio:stream`." }
    }
  },
  "x-limits": liveLimits,
  "x-close-codes": liveCloseCodes
})
