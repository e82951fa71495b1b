import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { prioritySemaphore } from "../../../services/speech-synthesizer/priority-semaphore.ts"
import { dueAt } from "../../../services/speech-synthesizer/role.ts"

const first = Number.NEGATIVE_INFINITY

/** Jobs that note their beginning and end on request. */
const bench = (permits: number | (() => number)) => {
  const line = prioritySemaphore(typeof permits === "number" ? () => permits : permits)
  const begun: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const begin = (name: string, dueAtMs: number) => {
    const end = Deferred.makeUnsafe<void>()
    ends.set(name, end)
    const work = Effect.andThen(
      Effect.sync(() => begun.push(name)),
      Deferred.await(end)
    )
    return Effect.forkChild(line.withPermit(dueAtMs, work), { startImmediately: true })
  }
  const end = (name: string) =>
    Effect.andThen(Deferred.succeed(ends.get(name) ?? Deferred.makeUnsafe<void>(), undefined), Effect.yieldNow)
  return { begun, begin, end, isAnyDue: line.isAnyDue }
}

describe("the jobs of an engine", () => {
  it.effect("run up to the number of threads; the rest waits in order", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(2)
      for (const name of ["a", "b", "c", "d"]) yield* begin(name, 0)
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("a")
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "c", "d"])
    })
  )

  it.effect("tell whether one waits that is needed by now", () =>
    Effect.gen(function* () {
      const { begin, end, isAnyDue } = bench(1)
      yield* begin("a", 0)
      assert.isFalse(isAnyDue(2_000), "one that runs waits no more")
      yield* begin("in two seconds", 2_000)
      assert.deepStrictEqual([1_999, 2_000].map(isAnyDue), [false, true])
      yield* end("a")
      assert.isFalse(isAnyDue(2_000))
    })
  )

  it.effect("run first for listeners without sound, then by how soon a listener runs out", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      yield* begin("a", 0)
      yield* begin("in ten seconds", 10_000)
      yield* begin("in two seconds", 2_000)
      yield* begin("first chunk", first)
      yield* begin("as soon", 2_000)
      yield* begin("another", first)
      const inTurn = ["a", "first chunk", "another", "in two seconds", "as soon", "in ten seconds"]
      for (const name of inTurn.slice(0, -1)) yield* end(name)
      assert.deepStrictEqual(begun, inTurn)
    })
  )

  it.effect("free their thread on failure and interruption, and after giving up in the queue", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      const running = yield* begin("a", 0)
      const waiting = yield* begin("b", first)
      yield* begin("c", 0)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(begun, ["a"])
      yield* Fiber.interrupt(running)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a", "c"])
      yield* end("c")
      yield* begin("d", 0)
      assert.deepStrictEqual(begun, ["a", "c", "d"])
    })
  )

  it.effect("are fewer at once as soon as fewer may be, and more when more may be", () =>
    Effect.gen(function* () {
      let permits = 2
      const { begun, begin, end } = bench(() => permits)
      for (const name of ["a", "b", "c", "d", "e"]) yield* begin(name, 0)
      permits = 1
      yield* end("a")
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "c"])
      permits = 2
      yield* end("c")
      assert.deepStrictEqual(begun, ["a", "b", "c", "d", "e"])
    })
  )
})

describe("a chunk", () => {
  it("is due at once for who hears nothing yet, else half a second before its listener would fall silent", () => {
    assert.strictEqual(dueAt({ chunk: 0, neededInMs: 0 }, 1_000), 1_000)
    assert.strictEqual(dueAt({ chunk: 3, neededInMs: 4_000 }, 1_000), 4_500)
    // So that it comes before first chunks that are asked for later.
    assert.strictEqual(dueAt({ chunk: 1, neededInMs: 200 }, 1_000), 1_000)
  })
})
