/**
 * A command on `commands.<entity>`, and its answer. Decoding reads the head first and then the command by its entity's
 * own schema, so that the sender of a bad command learns every fault. A repeated `commandId` is answered with the
 * entity's present state and changes nothing.
 */
import { Result, Schema } from "effect"
import { type BoundedDecoder, boundedDecoder, Count, Fault, Id, pointedFaults } from "#base"
import { AgentCommand, QueueCommand } from "./agent.ts"
import { ProjectCommand } from "./project.ts"
import { ReleaseCommand } from "./release.ts"
import { WorkItemCommand } from "./work-item/commands.ts"

export const CommandRequest = Schema.Struct({
  /** A sender without an answer repeats the same id: asking twice does not act twice. */
  commandId: Schema.String.check(Schema.isBetweenLength(1, 128)),
  id: Id,
  command: Schema.Record(Schema.String, Schema.Unknown)
}).annotate({ identifier: "CommandRequest" })
export interface CommandRequest extends Schema.Schema.Type<typeof CommandRequest> {}

const commandOutcomes = ["decided", "unchanged", "repeated"] as const

export const CommandAnswer = Schema.TaggedUnion({
  /** `state`: the entity as the API shows it. `sequence`: that of its last record in LOG. */
  Accepted: {
    was: Schema.Literals(commandOutcomes),
    sequence: Count,
    state: Schema.Record(Schema.String, Schema.Unknown)
  },
  /** The entity's state does not allow the command; a repeat is refused too. */
  Refused: { state: Schema.String, reason: Schema.String },
  NotFound: { entity: Schema.String, id: Schema.String },
  /** Too many commands at once, or the log cannot be written now: retry. */
  Busy: { retryAfterMs: Count },
  Invalid: { faults: Schema.Array(Fault) }
}).annotate({ identifier: "CommandAnswer" })
export type CommandAnswer = typeof CommandAnswer.Type

interface CommandDeclaration {
  readonly why: string
  readonly schema: Schema.Codec<unknown, unknown>
}

/** Entities that accept commands, by their name in the subject and in LOG. */
export const commandEntities = {
  workitem: { why: "a work item, by its UUID", schema: WorkItemCommand },
  release: { why: "a release, by its UUID", schema: ReleaseCommand },
  project: { why: "a project, by its id", schema: ProjectCommand },
  agent: { why: "an agent kind, or an instance of it as `<kind>/<instance>`", schema: AgentCommand },
  queue: { why: "the pickup queue, whose id is `global`", schema: QueueCommand }
} as const satisfies Record<string, CommandDeclaration>
export type CommandEntity = keyof typeof commandEntities

/** Reads the command of a request. The path of every fault begins with `/command`. */
export const decodeCommand = <Entity extends CommandEntity>(
  entity: Entity,
  command: unknown
): Result.Result<CommandOf<Entity>, ReadonlyArray<Fault>> =>
  Result.mapError(decoderOf(entity)(command), (faults) =>
    pointedFaults(faults).map(({ path, message }) => ({ path: `/command${path}`, message }))
  )

type CommandOf<Entity extends CommandEntity> = (typeof commandEntities)[Entity]["schema"]["Type"]

// Decoders are built on first use: building all of them would slow down every start.
const decoders = new Map<CommandEntity, BoundedDecoder<unknown>>()

const decoderOf = <Entity extends CommandEntity>(entity: Entity): BoundedDecoder<CommandOf<Entity>> => {
  const declaration: CommandDeclaration = commandEntities[entity]
  const decoder = decoders.get(entity) ?? boundedDecoder(declaration.schema)
  decoders.set(entity, decoder)
  return decoder as BoundedDecoder<CommandOf<Entity>>
}
