/**
 * The one way to the actors: every command, wherever it comes from, passes here, and loses its secrets before anything
 * is decided or kept. An operator's answer is set aside for the item's runner as it was written.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Actors, type CommandAddress, type CommandError, type Outcome } from "#actors"
import type { BusError } from "#bus"
import type { CommandEntity, PickupReply, WorkItemCommand } from "#contracts"
import { Redactor } from "#runtime"
import { type AnswerPlace, Answers } from "./Answers.ts"
import { type CommandOf, definitionOf, type StateOf } from "#pipeline"
import { redactTexts } from "./redaction/redact-command.ts"

export interface Known<State> {
  readonly state: State
  readonly sequence: number
}

export class Commands extends Context.Service<
  Commands,
  {
    readonly run: <Entity extends CommandEntity>(
      entity: Entity,
      address: CommandAddress,
      command: CommandOf<Entity>
    ) => Effect.Effect<Outcome<StateOf<Entity> | null>, CommandError>
    /** As the leader has it now. */
    readonly read: <Entity extends CommandEntity>(
      entity: Entity,
      id: string
    ) => Effect.Effect<Option.Option<Known<StateOf<Entity>>>, BusError>
  }
>()("starling/pipeline-api/Commands") {
  static readonly layer = Layer.effect(
    Commands,
    Effect.gen(function* () {
      const actors = yield* Actors
      const answers = yield* Answers
      const { redact } = yield* Redactor

      const run = Effect.fnUntraced(function* <Entity extends CommandEntity>(
        entity: Entity,
        address: CommandAddress,
        command: CommandOf<Entity>
      ): Effect.fn.Return<Outcome<StateOf<Entity> | null>, CommandError> {
        const decided = actors.run(definitionOf(entity), address, redactTexts(command, redact))
        const raw = entity === "workitem" ? replyOf(command as WorkItemCommand) : undefined
        if (raw === undefined) return yield* decided
        const place: AnswerPlace = { workItemId: address.id, questionId: raw.questionId, commandId: address.commandId }
        yield* answers.keep(place, raw)
        // Of any other failure nobody knows whether it was decided; what is kept in vain goes by itself.
        const drop = () => Effect.ignore(answers.drop(place))
        return yield* decided.pipe(Effect.tapErrorTag("Refusal", drop), Effect.tapErrorTag("EntityNotFound", drop))
      })

      const read = Effect.fnUntraced(function* <Entity extends CommandEntity>(entity: Entity, id: string) {
        const held = yield* actors.read(definitionOf(entity), id)
        return Option.flatMap(held, ({ state, sequence }) =>
          state === null ? Option.none() : Option.some({ state, sequence })
        )
      })
      return Commands.of({ run, read })
    })
  )
}

const replyOf = (command: WorkItemCommand): PickupReply | undefined => {
  if (command._tag === "Answer") return { questionId: command.questionId, outcome: "answered", text: command.answer }
  if (command._tag !== "DismissQuestion") return undefined
  return { questionId: command.questionId, outcome: "dismissed", text: command.reason }
}
