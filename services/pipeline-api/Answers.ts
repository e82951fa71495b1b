/**
 * Operators' answers, word for word, until a runner has taken them. An answer is kept before the item decides on it,
 * under the id of its command: when two race for a question, only the one that was decided stays. Once given out, it
 * lives a minute longer, for a runner that did not hear it and asks again.
 */
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { type BusError, Kv, type KvEntry } from "#bus"
import { encodeToken, type PickupReply } from "#contracts"

const Kept = Schema.Struct({
  questionId: Schema.String,
  outcome: Schema.Literals(["answered", "dismissed"]),
  text: Schema.NullOr(Schema.String),
  /** The dispatch that it was given to; null before that. */
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
// Eight questions can be open at once; some may also have an answer that lost the race.
const repliesMax = 64

export class Answers extends Context.Service<
  Answers,
  {
    readonly keep: (place: AnswerPlace, reply: PickupReply) => Effect.Effect<void, BusError>
    /** Drops an answer that was not decided on. */
    readonly drop: (place: AnswerPlace) => Effect.Effect<void, BusError>
    /** Takes an item's answers that no other dispatch was given; from now on they belong to this one. */
    readonly take: (workItemId: string, dispatchId: string) => Effect.Effect<ReadonlyArray<PickupReply>, BusError>
  }
>()("starling/pipeline-api/Answers") {
  static readonly layer = Layer.effect(
    Answers,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("answers", Kept)

      const keep = Effect.fn("Answers.keep")(function* (place: AnswerPlace, reply: PickupReply) {
        const key = keyOf(place)
        const kept: Kept = { ...reply, takenBy: null }
        const held = yield* bucket.get(key)
        if (Option.isNone(held)) yield* bucket.create(key, kept)
        // The same command again: an answer that was given out stays given out.
        else if (held.value.value.takenBy === null) yield* bucket.update(key, kept, held.value.revision)
      })

      const drop = Effect.fn("Answers.drop")(function* (place: AnswerPlace) {
        const held = yield* bucket.get(keyOf(place))
        if (Option.isSome(held)) yield* bucket.erase(held.value.key, held.value.revision)
      })

      const give = Effect.fnUntraced(function* ({ key, value, revision }: KvEntry<Kept>, dispatchId: string) {
        if (value.takenBy === dispatchId) return [value]
        if (value.takenBy !== null) return []
        return yield* bucket.update(key, { ...value, takenBy: dispatchId }, revision, givenMs).pipe(
          Effect.as([value]),
          Effect.catchTag("RevisionConflict", () => Effect.succeed([]))
        )
      })

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
