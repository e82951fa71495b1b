import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { Health, lineLogger, Metrics, Role, supervise } from "#runtime"

const running = <E>(loop: Effect.Effect<never, E>, seconds: number) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logging = Layer.mergeAll(
      Logger.layer([lineLogger("json", (line) => void lines.push(line))]),
      Layer.succeed(Role, "trial-role")
    )
    yield* Effect.forkChild(supervise("trial-loop", loop)).pipe(Effect.provide(logging))
    yield* TestClock.adjust(seconds * 1_000)
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  })

describe("a loop of a role", () => {
  it.effect("with a defect logs an ERROR with the loop, the role and the place", () =>
    Effect.gen(function* () {
      let starts = 0
      const aBugInHere = () => Effect.die(new TypeError("undefined is not a receiver"))
      const [line, ...more] = yield* running(
        Effect.suspend(() => (++starts === 1 ? aBugInHere() : Effect.never)),
        60
      )
      assert.deepStrictEqual(more, [])
      assert.deepInclude(line, { level: "ERROR", role: "trial-role", loop: "trial-loop" })
      assert.include(line?.["message"], "a loop stopped")
      assert.include(line?.["error"], "TypeError: undefined is not a receiver")
      assert.include(line?.["error"], "supervise.test.ts")
      assert.strictEqual(starts, 2)
    })
  )

  it.effect("with an endless defect logs it each time, at most every ten seconds", () =>
    Effect.gen(function* () {
      const hour = 3_600
      const lines = yield* running(Effect.die("a bug that stays"), hour)
      assert.isAtLeast(lines.length, hour / 10)
      assert.isAtMost(lines.length, hour / 10 + 10)
      for (const line of lines) assert.strictEqual(line["level"], "ERROR")
    })
  )

  it.effect("that was well for a minute restarts as soon as after its first stop", () =>
    Effect.gen(function* () {
      const starts: Array<number> = []
      const loop = Effect.gen(function* () {
        starts.push(yield* Clock.currentTimeMillis)
        // Ten quick stops, then each one after an hour.
        yield* Effect.sleep(starts.length < 10 ? 0 : 3_600_000)
        return yield* Effect.die("down")
      })
      yield* running(loop, 3 * 3_600)
      const gaps = starts.slice(1).map((at, index) => at - (starts[index] ?? 0))
      assert.deepStrictEqual(gaps.slice(0, 9), [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000])
      assert.deepStrictEqual(gaps.slice(9), [3_600_100, 3_600_100])
    })
  )

  it.effect("with an error of its own logs an ERROR too", () =>
    Effect.gen(function* () {
      const [line] = yield* running(Effect.fail("no broker"), 0)
      assert.deepInclude(line, { level: "ERROR", loop: "trial-loop" })
      assert.include(line?.["error"], "no broker")
    })
  )

  it.effect("that is told to stop stops, without a log line", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* running(Effect.never, 60), [])
    })
  )

  it.effect.each([
    [{ isNeeded: false }, true],
    [{ isNeeded: true }, false]
  ] as const)(
    "that stops again and again shows beside the checks until it has run for ten seconds, as %o",
    ([options, ok]) =>
      Effect.gen(function* () {
        let isBroken = true
        const loop = Effect.suspend(() => (isBroken ? Effect.fail("a cursor that nobody can read") : Effect.never))
        const health = yield* Health
        yield* health.started
        yield* Effect.forkChild(supervise("fan-out", loop, options))
        yield* TestClock.adjust("500 millis")
        assert.deepStrictEqual(yield* health.ready, { ok: true, checks: { "fan-out": "ok" } })
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(yield* health.ready, { ok, checks: { "fan-out": "stops again and again" } })
        const series = (value: number) => `check_failing{role="fleet",check="loop",subject="fan-out"} ${value}`
        const { text } = yield* Metrics
        assert.include(yield* text, series(1))
        isBroken = false
        yield* TestClock.adjust("20 seconds")
        assert.deepStrictEqual(yield* health.ready, { ok: true, checks: { "fan-out": "ok" } })
        assert.include(yield* text, series(0))
      }).pipe(Effect.provide(Layer.mergeAll(Health.layer, Metrics.layerTest)))
  )

  it.effect("that stops after each quarter of a minute is not taken for well in between", () =>
    Effect.gen(function* () {
      let isBroken = true
      const loop = Effect.suspend(() =>
        isBroken ? Effect.delay(Effect.fail("no answer"), "15 seconds") : Effect.never
      )
      const health = yield* Health
      yield* health.started
      yield* Effect.forkChild(supervise("fan-out", loop))
      yield* TestClock.adjust("5 minutes")
      for (let second = 0; second < 60; second++) {
        assert.deepStrictEqual((yield* health.ready).checks, { "fan-out": "stops again and again" })
        yield* TestClock.adjust("1 second")
      }
      isBroken = false
      yield* TestClock.adjust("56 seconds")
      assert.deepStrictEqual((yield* health.ready).checks, { "fan-out": "ok" })
    }).pipe(Effect.provide(Health.layer))
  )
})
