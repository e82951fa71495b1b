import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { makeTurns } from "../../../libs/actor/turns.ts"

const busy = () => "busy" as const

describe("a turn at a key", () => {
  it.effect("comes in the order of coming, one at a time, and other keys wait for nobody", () =>
    Effect.gen(function* () {
      const turns = makeTurns(8)
      const gate = yield* Deferred.make<void>()
      const done: Array<string> = []
      const work = (name: string) => Effect.sync(() => void done.push(name))

      const first = yield* Effect.forkChild(
        turns.within("a", busy, Effect.andThen(Deferred.await(gate), work("first")))
      )
      yield* Effect.yieldNow
      const others = yield* Effect.forEach(["second", "third"], (name) =>
        Effect.forkChild(turns.within("a", busy, work(name)))
      )
      yield* turns.within("b", busy, work("other key"))
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, ...others], Fiber.join)

      assert.deepStrictEqual(done, ["other key", "first", "second", "third"])
    })
  )

  it.effect("is refused at once when too many wait, and free again when they are through or gave up", () =>
    Effect.gen(function* () {
      const turns = makeTurns(2)
      const held = yield* Effect.forkChild(turns.within("a", busy, Effect.never))
      const waiting = yield* Effect.forkChild(turns.within("a", busy, Effect.void))
      yield* Effect.yieldNow

      assert.deepStrictEqual(yield* Effect.exit(turns.within("a", busy, Effect.void)), Exit.fail("busy" as const))
      yield* Fiber.interrupt(held)
      yield* Fiber.join(waiting)

      assert.strictEqual(yield* turns.within("a", busy, Effect.succeed("mine")), "mine")
    })
  )
})
