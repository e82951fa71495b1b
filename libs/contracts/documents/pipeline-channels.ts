/** The part of the AsyncAPI document that runners, internal services and operators speak to the pipeline by. Pure. */
import { Schema } from "effect"
import { CommandAnswer, CommandRequest, commandEntities } from "../pipeline/commands.ts"
import { HeldAnswer, HeldQuestion } from "../pipeline/held.ts"
import { PickupAnswer, PickupQuestion } from "../pipeline/pickup.ts"
import { type ReportDeclaration, reportKinds } from "../pipeline/reports.ts"
import { subjects } from "../subjects.ts"
import { exampleValue } from "./example-value.ts"

type JsonObject = Record<string, unknown>

/** A message of the document: its name is that of its channel and schema too. */
interface Spoken {
  readonly name: string
  readonly summary: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly example?: unknown
}

const reports: ReadonlyArray<readonly [kind: string, ReportDeclaration]> = Object.entries(reportKinds)
const entities = Object.entries(commandEntities)

const reportMessages: ReadonlyArray<Spoken> = reports.map(([kind, { why, schema }]) => ({
  name: `report.${kind}`,
  summary: `Says that ${why}.`,
  schema,
  example: exampleValue(schema)
}))

const question = { name: "pickup", summary: "A runner asks for something to do.", schema: PickupQuestion }
const answer = { name: "pickup.answer", summary: "One phase of one item, or nothing.", schema: PickupAnswer }
const held = { name: "held", summary: "A runner asks whether its dispatch still holds.", schema: HeldQuestion }
const heldAnswer = { name: "held.answer", summary: "It holds, or it is over: stop.", schema: HeldAnswer }

/** A request whose `command` is one of that entity's. */
const requestOf = (entity: keyof typeof commandEntities) =>
  Schema.Struct({ ...CommandRequest.fields, command: commandEntities[entity].schema as Schema.Codec<unknown, unknown> })

const commandMessages: ReadonlyArray<Spoken> = entities.map(([entity, { why }]) => ({
  name: `command.${entity}`,
  summary: `A command for ${why}.`,
  schema: requestOf(entity as keyof typeof commandEntities)
}))
const commandAnswer = { name: "command.answer", summary: "What became of a command.", schema: CommandAnswer }

const spoken: ReadonlyArray<Spoken> = [
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

export const pipelineChannels = (): JsonObject => ({
  ...Object.fromEntries(reports.map(([kind]) => [`report.${kind}`, channel(subjects.report(kind), `report.${kind}`)])),
  pickup: {
    ...channel("pickup.next.{agentKind}", "pickup"),
    parameters: { agentKind: { description: "The agent kind, encoded as a subject's token." } }
  },
  // Where the answer goes is the asker's own inbox.
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

export const pipelineOperations = (): JsonObject => ({
  ...Object.fromEntries(reportMessages.map(({ name, summary }) => [`publish.${name}`, operation(name, summary)])),
  "ask.pickup": operation("pickup", question.summary, "pickup.answer"),
  "ask.held": operation("held", held.summary, "held.answer"),
  ...Object.fromEntries(
    commandMessages.map(({ name, summary }) => [`ask.${name}`, operation(name, summary, "command.answer")])
  )
})

export const pipelineMessages = (): JsonObject =>
  Object.fromEntries(
    spoken.map(({ name, summary, example }) => [
      name,
      {
        name,
        title: name,
        summary,
        contentType: "application/json",
        payload: { $ref: `#/components/schemas/${name}` },
        ...(example === undefined ? {} : { examples: [{ payload: example }] })
      }
    ])
  )

/** Of every message, and what they refer to; references point below `refPrefix`. */
export const pipelineSchemas = (refPrefix: string): JsonObject => {
  const found: JsonObject = {}
  for (const { name, schema } of spoken) {
    const { schema: body, definitions } = Schema.toJsonSchemaDocument(schema)
    Object.assign(found, definitions, { [name]: body })
  }
  return JSON.parse(JSON.stringify(found).replaceAll("#/$defs/", refPrefix)) as JsonObject
}
