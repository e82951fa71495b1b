/**
 * The one way to the actors. Every command, wherever it comes from, passes here and loses its secrets before anything
 * is decided or kept. An operator's answer is kept word for word for the item's runner.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Actors, type CommandAddress, type CommandError, type Outcome } from "#actors"
import type { BusError } from "#bus"
import type { CommandEntity, PickupReply, WorkItemCommand } from "#contracts"
import { type CommandOf, definitionOf, type StateOf } from "#pipeline"
import { type Redact, Redactor } from "#runtime"
import { type AnswerPlace, Answers } from "./Answers.ts"

interface Known<State> {
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
    /** The state that the leader has now. */
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
        // After any other failure the decision is unknown; an answer kept in vain expires by itself.
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

/** Keys of texts whose bound is 500 characters or more. */
const wide: ReadonlySet<string> = new Set([
  "actionableAnswer",
  "answer",
  "description",
  "error",
  "lastError",
  "note",
  "questionText",
  "rationale",
  "reason"
])
const wideCharacters = 500
/** Keys of short texts. */
const narrow: ReadonlySet<string> = new Set(["location", "title"])

/**
 * The value without its secrets, wherever people or agents wrote a text in it: questions, answers, reasons, notes,
 * errors, findings, suggestions. A text's key decides; ids, branches and addresses stay. A text that grows by the
 * placeholders for its secrets is cut, so that it still fits its bound. Pure.
 */
export const redactTexts = <A>(value: A, redact: Redact): A => redacted(value, "", redact) as A

const redacted = (value: unknown, key: string, redact: Redact): unknown => {
  if (typeof value === "string") return redactedText(value, key, redact)
  if (Array.isArray(value)) {
    const clean = value.map((each) => redacted(each, key, redact))
    return clean.some((each, index) => each !== value[index]) ? clean : value
  }
  return typeof value === "object" && value !== null ? redactedRecord(value, redact) : value
}

/** Returns the same object when nothing in it changed, which is the usual case. */
const redactedRecord = (value: object, redact: Redact): object => {
  let clean: Array<[string, unknown]> | undefined
  const entries = Object.entries(value)
  for (const [index, [name, each]] of entries.entries()) {
    const one = redacted(each, name, redact)
    if (one !== each) clean ??= entries.slice(0, index)
    clean?.push([name, one])
  }
  return clean === undefined ? value : Object.fromEntries(clean)
}

const redactedText = (text: string, key: string, redact: Redact) => {
  if (wide.has(key)) return redact(text).slice(0, Math.max(text.length, wideCharacters))
  return narrow.has(key) ? redact(text).slice(0, text.length) : text
}
