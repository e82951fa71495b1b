import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { groupedChanges } from "../../../../libs/http/rate-limit/shared-window.ts"

/** A value that is written when the test lets it be, each write with all that was decided for it. */
const store = () => {
  const state = { value: 0, writes: 0 }
  const gate = Deferred.makeUnsafe<void, "gone">()
  const begun = Deferred.makeUnsafe<void>()
  const change = groupedChanges<number, "gone">((_, decide) =>
    Effect.gen(function* () {
      yield* Deferred.succeed(begun, undefined)
      if (state.writes++ === 0) yield* Deferred.await(gate)
      state.value = decide(state.value) ?? state.value
    })
  )
  const add = (by: number) => change("key", (value) => ({ answer: value + by, next: value + by }))
  /** Another caller's change, whose write is under way when this returns. */
  const first = (by: number) =>
    Effect.tap(Effect.forkChild(add(by), { startImmediately: true }), () => Deferred.await(begun))
  return { state, gate, change, add, first }
}

const forked = <A, E>(change: Effect.Effect<A, E>) => Effect.forkChild(change, { startImmediately: true })

describe("grouped changes", () => {
  it.effect("run one after the other, and one write stores all that arrived during the last one", () =>
    Effect.gen(function* () {
      const { state, gate, add, first } = store()
      const added = [yield* first(1), ...(yield* Effect.forEach([2, 3, 4, 5], (by) => forked(add(by))))]
      yield* Deferred.succeed(gate, undefined)
      assert.deepStrictEqual(yield* Effect.forEach(added, Fiber.join), [1, 3, 6, 10, 15])
      assert.deepStrictEqual(state, { value: 15, writes: 2 })
      assert.strictEqual(yield* add(1), 16)
      assert.strictEqual(state.writes, 3)
    })
  )

  it.effect("answer callers that change nothing, too", () =>
    Effect.gen(function* () {
      const { gate, add, change } = store()
      yield* Deferred.succeed(gate, undefined)
      yield* add(7)
      assert.strictEqual(yield* change("key", (value) => ({ answer: `${value}`, next: undefined })), "7")
    })
  )

  it.effect("leave out callers that left, and go on without the first one", () =>
    Effect.gen(function* () {
      const { state, gate, add, first } = store()
      const [begun, waiting, third] = [yield* first(1), yield* forked(add(10)), yield* forked(add(100))]
      yield* Fiber.interrupt(begun)
      yield* Fiber.interrupt(waiting)
      yield* Deferred.succeed(gate, undefined)
      assert.strictEqual(yield* Fiber.join(third), 101)
      assert.strictEqual(state.value, 101, "the first had begun")
    })
  )

  it.effect("fail for each caller of a group, and not for the next group", () =>
    Effect.gen(function* () {
      const { gate, add, first } = store()
      const failing = yield* first(1)
      const after = yield* forked(add(2))
      yield* Deferred.fail(gate, "gone")
      assert.deepStrictEqual(yield* Fiber.await(failing), Exit.fail("gone" as const))
      assert.strictEqual(yield* Fiber.join(after), 2)
    })
  )
})
