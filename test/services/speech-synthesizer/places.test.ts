import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { places } from "../../../services/speech-synthesizer/places.ts"

/** Jobs that note when they begin and end when they are told to. */
const bench = (count: number) => {
  const line = places(count)
  const begun: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const begin = (name: string, isUrgent: boolean) => {
    const end = Deferred.makeUnsafe<void>()
    ends.set(name, end)
    const work = Effect.andThen(
      Effect.sync(() => begun.push(name)),
      Deferred.await(end)
    )
    return Effect.forkChild(line.within(isUrgent, work), { startImmediately: true })
  }
  const end = (name: string) =>
    Effect.andThen(Deferred.succeed(ends.get(name) ?? Deferred.makeUnsafe<void>(), undefined), Effect.yieldNow)
  return { begun, begin, end }
}

describe("places at an engine", () => {
  it.effect("are as many as there are; the rest waits in the order it came", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(2)
      for (const name of ["a", "b", "c", "d"]) yield* begin(name, false)
      assert.deepStrictEqual(begun, ["a", "b"])
      yield* end("a")
      yield* end("b")
      assert.deepStrictEqual(begun, ["a", "b", "c", "d"])
    })
  )

  it.effect("go to what is urgent first", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      yield* begin("a", false)
      yield* begin("ahead", false)
      yield* begin("first chunk", true)
      yield* begin("another", true)
      for (const name of ["a", "first chunk", "another"]) yield* end(name)
      assert.deepStrictEqual(begun, ["a", "first chunk", "another", "ahead"])
    })
  )

  it.effect("are given back by a job that fails or is interrupted, and not lost by one that gave up waiting", () =>
    Effect.gen(function* () {
      const { begun, begin, end } = bench(1)
      const running = yield* begin("a", false)
      const waiting = yield* begin("b", true)
      yield* begin("c", false)
      yield* Fiber.interrupt(waiting)
      assert.deepStrictEqual(begun, ["a"])
      yield* Fiber.interrupt(running)
      yield* Effect.yieldNow
      assert.deepStrictEqual(begun, ["a", "c"])
      yield* end("c")
      yield* begin("d", false)
      assert.deepStrictEqual(begun, ["a", "c", "d"])
    })
  )
})
