import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  type Breaker,
  closedBreaker,
  endpointBreaker,
  onFailure,
  onSuccess,
  phase
} from "../../../services/webhook-dispatcher/endpoint-breaker.ts"

const tripped = Effect.gen(function* () {
  const breaker = endpointBreaker(true)
  for (let index = 0; index < 20; index++) {
    yield* breaker.report(false)
    yield* TestClock.adjust("2 seconds")
  }
  return breaker
})

describe("an endpoint's breaker", () => {
  it.effect("lets nothing go while it is open, and says until when", () =>
    Effect.gen(function* () {
      const breaker = yield* tripped
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Wait", untilMs: 68_000 })
    })
  )

  it.effect("lets one delivery probe after the pause, and the others when it succeeded", () =>
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

  it.effect("gives the probe to the next one when it was handed back unfinished", () =>
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

  it.effect("opens and closes with what other replicas and operators say", () =>
    Effect.gen(function* () {
      const breaker = endpointBreaker(true)
      yield* breaker.adopt(5_000)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Wait", untilMs: 5_000 })
      yield* breaker.adopt(null)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Go" })
      assert.isTrue(breaker.isPristine())
    })
  )

  it.effect("that is switched off never opens", () =>
    Effect.gen(function* () {
      const breaker = endpointBreaker(false)
      for (let index = 0; index < 50; index++) {
        yield* breaker.report(false)
        yield* TestClock.adjust("10 seconds")
      }
      yield* breaker.adopt(10_000_000)
      assert.deepStrictEqual(yield* breaker.admit, { _tag: "Go" })
    })
  )
})

const fail = (times: number, everyMs: number, from: Breaker = closedBreaker, startMs = 0) => {
  let breaker = from
  for (let index = 0; index < times; index++) breaker = onFailure(breaker, startMs + index * everyMs)
  return { breaker, atMs: startMs + (times - 1) * everyMs }
}

describe("a breaker", () => {
  it.each([
    ["a burst of a thousand failures in a second", 1_000, 1, "closed"],
    ["nineteen failures over an hour", 19, 180_000, "closed"],
    ["twenty failures within thirty seconds", 20, 1_500, "closed"],
    ["twenty failures over thirty seconds and more", 20, 1_600, "open"]
  ] as const)("after %s is as it should be", (_what, times, everyMs, expected) => {
    const { breaker, atMs } = fail(times, everyMs)
    assert.strictEqual(phase(breaker, atMs), expected)
  })

  it("forgets everything at a success", () => {
    const { breaker, atMs } = fail(19, 10_000)
    assert.strictEqual(phase(onFailure(onSuccess(), atMs), atMs), "closed")
    assert.strictEqual(phase(onFailure(breaker, atMs), atMs), "open")
  })

  it("is open for 30 s, then half-open; a failed probe opens it for twice as long, up to 5 min", () => {
    let { breaker, atMs } = fail(20, 2_000)
    for (const pauseMs of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      assert.strictEqual(phase(breaker, atMs + pauseMs - 1), "open")
      assert.strictEqual(phase(breaker, atMs + pauseMs), "half-open")
      atMs += pauseMs
      breaker = onFailure(breaker, atMs)
    }
  })

  it("does not count what was still under way when it opened as probes", () => {
    const { breaker, atMs } = fail(20, 2_000)
    const later = onFailure(breaker, atMs + 10)
    assert.strictEqual(later.openUntilMs, breaker.openUntilMs)
    assert.strictEqual(later.trips, 1)
  })

  it.prop(
    "never opens within the first thirty seconds of trouble",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 29_999 })))],
    ([times]) => {
      let breaker = closedBreaker
      for (const atMs of times.toSorted((left, right) => left - right)) {
        breaker = onFailure(breaker, atMs)
        assert.strictEqual(phase(breaker, atMs), "closed")
      }
    }
  )
})
