import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Actors, type Mark } from "#actor"
import { eventually, withBus } from "../../support/bus.ts"
import { jar } from "./jar.ts"

const withActors = <A, E, R>(test: Effect.Effect<A, E, R>) => withBus(() => Effect.provide(test, Actors.layer))

/** Leaves the mark with a coin in that jar. */
const fillMarked = (id: string, commandId: string, mark: Mark) =>
  Effect.gen(function* () {
    const { run } = yield* Actors
    yield* run(jar, { id, commandId: `open-${id}` }, { _tag: "Open" })
    return yield* run(jar, { id, commandId, marks: [mark] }, { _tag: "Fill", coins: 1 })
  })
const found = (name: string) => Effect.flatMap(Actors, ({ mark }) => mark(name))

describe("a mark", () => {
  it.live("is left by one decision of those that want to be the first, whichever entity they concern", () =>
    withActors(
      Effect.gen(function* () {
        const name = "the first of all"
        assert.isTrue(Option.isNone(yield* found(name)))
        const all = yield* Effect.forEach(
          ["a", "b", "c", "d"],
          (id) => Effect.result(fillMarked(id, `fill-${id}`, { name, sequence: 0 })),
          { concurrency: "unbounded" }
        )
        const [winner, ...others] = all.flatMap((one) => (one._tag === "Success" ? [one.success] : []))
        const losers = all.flatMap((one) => (one._tag === "Failure" ? [one.failure._tag] : []))
        assert.deepStrictEqual([others.length, losers], [0, Array.from({ length: 3 }, () => "GroundsChanged")])

        // It says whose it is, and stands right before the record.
        const mark = Option.getOrThrow(yield* found(name))
        assert.strictEqual(mark.commandId, `fill-${mark.id}`)
        assert.strictEqual(mark.sequence + 1, winner?.sequence)
      })
    )
  )

  it.live("moves on with each decision that found it where it stands", () =>
    withActors(
      Effect.gen(function* () {
        const name = "in turn"
        yield* fillMarked("a", "1", { name, sequence: 0 })
        const { sequence } = Option.getOrThrow(yield* found(name))
        yield* fillMarked("b", "2", { name, sequence })
        assert.strictEqual((yield* Effect.flip(fillMarked("a", "3", { name, sequence })))._tag, "GroundsChanged")
        assert.strictEqual(Option.getOrThrow(yield* found(name)).id, "b")
      })
    )
  )

  it.live("goes after as long as it is kept", () =>
    withActors(
      Effect.gen(function* () {
        const mark = { name: "for a while", sequence: 0, keptSeconds: 3 }
        yield* fillMarked("a", "1", mark)
        assert.isTrue(Option.isSome(yield* found(mark.name)))
        yield* eventually(Effect.map(found(mark.name), Option.isNone))
        yield* fillMarked("b", "2", mark)
      })
    )
  )
})
