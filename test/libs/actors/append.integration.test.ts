import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Actors, type UniqueKey } from "#actors"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { jar } from "./jar.ts"

const withActors = <A, E, R>(test: Effect.Effect<A, E, R>) => withBus(() => Effect.provide(test, Actors.layer))

/** Takes the key with a coin in that jar. */
const fillWithKey = (id: string, commandId: string, key: UniqueKey) =>
  Effect.gen(function* () {
    const { run } = yield* Actors
    yield* run(jar, { id, commandId: `open-${id}` }, { _tag: "Open" })
    return yield* run(jar, { id, commandId, uniqueKeys: [key] }, { _tag: "Fill", coins: 1 })
  })
const found = (name: string) => Effect.flatMap(Actors, ({ uniqueKey }) => uniqueKey(name))

describe("a unique key", () => {
  it.live("admits one of several decisions that want to be first, whatever their entities", () =>
    withActors(
      Effect.gen(function* () {
        const name = "the first of all"
        assert.isTrue(Option.isNone(yield* found(name)))
        const all = yield* Effect.forEach(
          ["a", "b", "c", "d"],
          (id) => Effect.result(fillWithKey(id, `fill-${id}`, { name, sequence: 0 })),
          { concurrency: "unbounded" }
        )
        const [winner, ...others] = all.flatMap((one) => (one._tag === "Success" ? [one.success] : []))
        const losers = all.flatMap((one) => (one._tag === "Failure" ? [one.failure._tag] : []))
        assert.deepStrictEqual([others.length, losers], [0, Array.from({ length: 3 }, () => "PreconditionFailed")])

        // It names its owner, and stands right before the record.
        const key = Option.getOrThrow(yield* found(name))
        assert.strictEqual(key.commandId, `fill-${key.id}`)
        assert.strictEqual(key.sequence + 1, winner?.sequence)
      })
    )
  )

  it.live("moves on with each decision that names its current sequence", () =>
    withActors(
      Effect.gen(function* () {
        const name = "in turn"
        yield* fillWithKey("a", "1", { name, sequence: 0 })
        const { sequence } = Option.getOrThrow(yield* found(name))
        yield* fillWithKey("b", "2", { name, sequence })
        assert.strictEqual((yield* Effect.flip(fillWithKey("a", "3", { name, sequence })))._tag, "PreconditionFailed")
        assert.strictEqual(Option.getOrThrow(yield* found(name)).id, "b")
      })
    )
  )

  it.live("expires after its retention", () =>
    withActors(
      Effect.gen(function* () {
        const key = { name: "for a while", sequence: 0, keptSeconds: 3 }
        yield* fillWithKey("a", "1", key)
        assert.isTrue(Option.isSome(yield* found(key.name)))
        yield* eventually(found(key.name), { is: Option.isNone })
        yield* fillWithKey("b", "2", key)
      })
    )
  )
})
