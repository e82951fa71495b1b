import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { endpointBreaker } from "../../../services/webhook-dispatcher/endpoint-worker.ts"

const tripped = Effect.gen(function* () {
  const breaker = endpointBreaker(() => true)
  for (let index = 0; index < 20; index++) {
    yield* breaker.report(false)
    yield* TestClock.adjust("2 seconds")
  }
  return breaker
})

describe("an endpoint's breaker", () => {
  it.effect("admits nothing while it is open, and says until when", () =>
    Effect.gen(function* () {
      const breaker = yield* tripped
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Wait", untilMs: 68_000 })
    })
  )

  it.effect("admits one delivery as a probe after the pause, and the others after its success", () =>
    Effect.gen(function* () {
      const breaker = yield* tripped
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Go" })
      const second = yield* Effect.forkChild(breaker.admit)
      yield* TestClock.adjust("10 seconds")
      assert.isUndefined(second.pollUnsafe())

      const { closed } = yield* breaker.report(true)

      assert.isTrue(closed)
      assert.deepStrictEqual(yield* Fiber.join(second), { _tag: "Go" })
    })
  )

  it.effect("sends the others away when the probe failed", () =>
    Effect.gen(function* () {
      const breaker = yield* tripped
      yield* TestClock.adjust("30 seconds")
      yield* breaker.admit
      const second = yield* Effect.forkChild(breaker.admit)
      yield* TestClock.adjust("1 second")

      const { openedUntilMs } = yield* breaker.report(false)

      assert.strictEqual(openedUntilMs, 71_000 + 60_000)
      assert.deepStrictEqual(yield* Fiber.join(second), { _tag: "Wait", untilMs: 131_000 })
    })
  )

  it.effect("gives the probe to the next delivery when it was handed back unfinished", () =>
    Effect.gen(function* () {
      const breaker = yield* tripped
      yield* TestClock.adjust("30 seconds")
      yield* breaker.admit
      const second = yield* Effect.forkChild(breaker.admit)
      yield* TestClock.adjust("1 second")

      yield* breaker.release

      assert.deepStrictEqual(yield* Fiber.join(second), { _tag: "Go" })
    })
  )

  it.effect("opens and closes with the state of other replicas and operators", () =>
    Effect.gen(function* () {
      const breaker = endpointBreaker(() => true)
      yield* breaker.adopt(5_000)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Wait", untilMs: 5_000 })
      yield* breaker.adopt(null)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Go" })
      assert.isTrue(breaker.isPristine())
    })
  )

  it.effect("that is switched off never opens", () =>
    Effect.gen(function* () {
      const breaker = endpointBreaker(() => false)
      for (let index = 0; index < 50; index++) {
        yield* breaker.report(false)
        yield* TestClock.adjust("10 seconds")
      }
      yield* breaker.adopt(10_000_000)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Go" })
    })
  )
})
