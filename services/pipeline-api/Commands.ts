/**
 * The one way to the actors. Every command, whatever its source, passes here and loses its secrets before anything is
 * decided or stored. An operator's answer is kept verbatim for the item's runner.
 *
 * Operators' verbatim answers, until a runner has taken them. An answer is stored before the item decides on it, under
 * the id of its command: when two race for a question, only the one that was decided stays. Once given out, it lives a
 * minute longer, for a runner that did not receive it and asks again.
 */
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { Actors, type CommandAddress, type CommandError, type Outcome } from "#actors"
import { type BusError, kept, Kv, type KvEntry, records, replaced } from "#bus"
import type { CommandEntity, PickupReply, WorkItemCommand } from "#pipeline/contract"
import { encodeToken } from "#base"
import { type CommandOf, definitionOf, type StateOf } from "#pipeline"
import { type Redact, Redactor } from "#runtime"

const Kept = Schema.Struct({
  questionId: Schema.String,
  outcome: Schema.Literals(["answered", "dismissed"]),
  text: Schema.NullOr(Schema.String),
  /** The dispatch it was given to; null before that. */
  takenBy: Schema.NullOr(Schema.String)
})
interface Kept extends Schema.Schema.Type<typeof Kept> {}

export interface AnswerPlace {
  readonly workItemId: string
  readonly questionId: string
  readonly commandId: string
}

// A runner that asks again does so within seconds.
const givenMs = 60_000
// Eight questions can be open at once; some can also have an answer that lost the race.
const repliesMax = 64

export class Answers extends Context.Service<
  Answers,
  {
    readonly keep: (place: AnswerPlace, reply: PickupReply) => Effect.Effect<void, BusError>
    /** Drops an answer that was not decided on. */
    readonly drop: (place: AnswerPlace) => Effect.Effect<void, BusError>
    /** Takes an item's answers not yet given to another dispatch; from now on they belong to this one. */
    readonly take: (workItemId: string, dispatchId: string) => Effect.Effect<ReadonlyArray<PickupReply>, BusError>
  }
>()("starling/pipeline-api/Answers") {
  static readonly layer = Layer.effect(
    Answers,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("answers", Kept)

      const answers = records(bucket, { keptMs: ({ takenBy }) => (takenBy === null ? undefined : givenMs) })
      const keep = (place: AnswerPlace, reply: PickupReply) =>
        Effect.asVoid(
          answers.change(keyOf(place), (held) =>
            // The same command again: an answer that was given out stays so.
            held === undefined || held.takenBy === null ? replaced<Kept>({ ...reply, takenBy: null }) : kept(held)
          )
        )

      const drop = Effect.fn("Answers.drop")(function* (place: AnswerPlace) {
        const held = yield* bucket.get(keyOf(place))
        if (Option.isSome(held)) yield* bucket.erase(held.value.key, held.value.revision)
      })

      const give = ({ key, value, revision }: KvEntry<Kept>, dispatchId: string) => {
        if (value.takenBy !== null) return Effect.succeed(value.takenBy === dispatchId ? [value] : [])
        return Effect.map(answers.replace(key, { ...value, takenBy: dispatchId }, revision), ({ answer }) =>
          answer ? [value] : []
        )
      }

      const take = Effect.fn("Answers.take")(function* (workItemId: string, dispatchId: string) {
        const found = yield* Stream.runCollect(Stream.take(bucket.scan(`${encodeToken(workItemId)}.>`), repliesMax))
        const newest = new Map<string, KvEntry<Kept>>()
        for (const entry of found.toSorted((left, right) => left.revision - right.revision)) {
          newest.set(entry.value.questionId, entry)
        }
        const given = yield* Effect.forEach(newest.values(), (entry) => give(entry, dispatchId))
        return given.flat().map(({ questionId, outcome, text }) => ({ questionId, outcome, text }))
      })
      return Answers.of({ keep, drop, take })
    })
  )
}

const keyOf = ({ workItemId, questionId, commandId }: AnswerPlace) =>
  [workItemId, questionId, commandId].map(encodeToken).join(".")

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
    /** The leader's current state. */
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
        // After any other failure the decision is unknown; an unneeded answer expires by itself.
        const drop = () => Effect.ignore(answers.drop(place))
        return yield* decided.pipe(Effect.tapErrorTag("Refusal", drop), Effect.tapErrorTag("EntityNotFound", drop))
      })

      const read = Effect.fnUntraced(function* <Entity extends CommandEntity>(entity: Entity, id: string) {
        const state = yield* actors.read(definitionOf(entity), id)
        return Option.flatMap(state, ({ state, sequence }) =>
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
 * placeholders for its secrets is truncated to its bound. Pure.
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
