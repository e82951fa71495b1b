/**
 * Commands from the bus, `commands.<entity>`, one queue group over all replicas. The sender of a bad command gets every
 * fault; the sender of a refused one gets the state and the reason. A lost answer costs nothing: the same command id
 * sent again is answered with the current state.
 */
import { Clock, Effect, Result } from "effect"
import type { CommandError } from "#actors"
import { jsonCodec, type MessageCodec, Requests } from "#bus"
import {
  type AgentState,
  CommandAnswer,
  commandEntities,
  type CommandEntity,
  CommandRequest,
  decodeCommand,
  type ProjectState,
  type QueueState,
  type ReleaseState,
  type WorkItemState
} from "#pipeline/contract"
import { subjects } from "#base"
import { parseJson } from "#base/json"
import type { CommandOf, StateOf } from "#pipeline"
import { Configuration } from "#configuration"
import { Commands } from "./Commands.ts"
import { agentView, projectView, queueView, releaseView, workItemView } from "./views.ts"

const answerCodec = jsonCodec(CommandAnswer)
const queueGroup = "pipeline-api"

// A busy entity is free again within milliseconds; a full or unreachable log takes longer.
const busyMs = 50
const awayMs = 2_000

/** Answers while the scope is open. */
export const answerCommands = Effect.gen(function* () {
  const requests = yield* Requests
  const { PipelineApi } = yield* Configuration
  for (const entity of Object.keys(commandEntities) as ReadonlyArray<CommandEntity>) {
    const handler = yield* carriedOut(entity)
    yield* requests.answer({
      subject: subjects.commands(entity),
      queueGroup,
      question: commandRequestCodec,
      answer: answerCodec,
      concurrency: PipelineApi.CommandsMax,
      handler
    })
  }
})

const carriedOut = Effect.fnUntraced(function* <Entity extends CommandEntity>(entity: Entity) {
  const commands = yield* Commands

  const carryOut = Effect.fnUntraced(function* ({ id, commandId, command }: CommandRequest) {
    const decoded = decodeCommand(entity, command)
    if (Result.isFailure(decoded)) return CommandAnswer.cases.Invalid.make({ faults: decoded.failure })
    // The entity's own schema decoded it, so it is a command of that entity.
    const outcome = yield* commands.run(entity, { id, commandId }, decoded.success as CommandOf<Entity>)
    const { state, sequence, was } = outcome
    const nowMs = yield* Clock.currentTimeMillis
    // The type is the only check: a check at run time would cost more than the decision.
    const accepted: CommandAnswer = {
      _tag: "Accepted",
      was,
      sequence,
      state: entityView(entity, state, { id, sequence, nowMs })
    }
    return accepted
  })

  return (request: CommandRequest) => Effect.catch(carryOut(request), notCarriedOut)
})

const notCarriedOut = (error: CommandError): Effect.Effect<CommandAnswer> => {
  switch (error._tag) {
    case "Refusal":
      return Effect.succeed({ _tag: "Refused", state: error.state, reason: error.reason })
    case "EntityNotFound":
      return Effect.succeed({ _tag: "NotFound", entity: error.entity, id: error.id })
    case "EntityBusy":
    case "PreconditionFailed":
      return Effect.succeed({ _tag: "Busy", retryAfterMs: busyMs })
    default:
      return Effect.as(Effect.logWarning("a command could not be carried out", error), {
        _tag: "Busy",
        retryAfterMs: awayMs
      })
  }
}

const bySchema = jsonCodec(CommandRequest)

// The same bounds as in the schema.
const commandIdCharactersMax = 128
const idCharactersMax = 256

const isText = (value: unknown, charactersMax: number): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= charactersMax

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const plain = (json: unknown): CommandRequest | undefined => {
  if (!isRecord(json)) return undefined
  const { commandId, id, command } = json
  return isText(commandId, commandIdCharactersMax) && isText(id, idCharactersMax) && isRecord(command)
    ? { commandId, id, command }
    : undefined
}

/**
 * Parses the head of a command by hand, because the schema would cost as much as the command itself. Anything not
 * plainly valid goes to the schema, which reports the faults.
 */
export const commandRequestCodec: MessageCodec<CommandRequest> = {
  encode: bySchema.encode,
  decode: (message) => {
    const json = parseJson(message.data)
    const request = Result.isSuccess(json) ? plain(json.success) : undefined
    return request === undefined ? bySchema.decode(message) : Result.succeed(request)
  }
}

interface EntityAddress {
  readonly id: string
  readonly sequence: number
  readonly nowMs: number
}

/**
 * Any entity in the API's form, for senders of commands over the bus. `state` null: the entity is unknown, and the
 * command changed nothing. Pure.
 */
const entityView = <Entity extends CommandEntity>(
  entity: Entity,
  state: StateOf<Entity> | null,
  { id, sequence, nowMs }: EntityAddress
): Readonly<Record<string, unknown>> => {
  const known: unknown = state
  switch (entity) {
    case "agent":
      return { ...agentView(id, known as AgentState | null, { sequence, nowMs }) }
    case "queue":
      return { ...queueView(known as QueueState | null, sequence) }
    case "project":
      return known === null ? {} : { ...projectView(id, known as ProjectState, { sequence }) }
    case "release":
      return known === null ? {} : { ...releaseView(id, known as ReleaseState, sequence) }
    default:
      return known === null ? {} : { ...workItemView(id, known as WorkItemState, sequence) }
  }
}
