import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { keyedQueue } from "#runtime"

const busy = Effect.fail("busy" as const)

describe("work queued by key", () => {
  it.effect("runs in order, one at a time, without delaying other keys", () =>
    Effect.gen(function* () {
      const queue = keyedQueue(8)
      const gate = yield* Deferred.make<void>()
      const done: Array<string> = []
      const work = (name: string) => Effect.sync(() => void done.push(name))

      const first = yield* Effect.forkChild(queue.run("a", busy, Effect.andThen(Deferred.await(gate), work("first"))))
      yield* Effect.yieldNow
      const others = yield* Effect.forEach(["second", "third"], (name) =>
        Effect.forkChild(queue.run("a", busy, work(name)))
      )
      yield* queue.run("b", busy, work("other key"))
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.forEach([first, ...others], Fiber.join)

      assert.deepStrictEqual(done, ["other key", "first", "second", "third"])
    })
  )

  it.effect("is refused at once when too many wait, and has room again when they end or give up", () =>
    Effect.gen(function* () {
      const queue = keyedQueue(2)
      assert.isTrue(queue.isIdle("a"))
      const held = yield* Effect.forkChild(queue.run("a", busy, Effect.never))
      const waiting = yield* Effect.forkChild(queue.run("a", busy, Effect.void))
      yield* Effect.yieldNow
      assert.deepStrictEqual([queue.isIdle("a"), queue.isIdle("b")], [false, true])

      assert.deepStrictEqual(yield* Effect.exit(queue.run("a", busy, Effect.void)), Exit.fail("busy" as const))
      yield* Fiber.interrupt(held)
      yield* Fiber.join(waiting)

      assert.strictEqual(yield* queue.run("a", busy, Effect.succeed("mine")), "mine")
      assert.isTrue(queue.isIdle("a"))
    })
  )
})
