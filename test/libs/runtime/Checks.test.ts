import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { check, Health, lineLogger, Metrics, Role } from "#runtime"

const seen = Effect.gen(function* () {
  const health = yield* Health
  const text = yield* (yield* Metrics).text
  const { ok, checks } = yield* health.ready
  return { ok, checks, failing: /^check_failing\{.*\} (\d)$/mu.exec(text)?.[1] }
})

/** What is being tried, how often, and what was logged. */
const trial = () => {
  const state = { fault: undefined as string | undefined, runs: 0, lines: [] as Array<string> }
  const run = Effect.suspend(() => {
    state.runs += 1
    return state.fault === undefined ? Effect.void : Effect.fail(state.fault)
  })
  const runtime = Layer.mergeAll(
    Layer.effectDiscard(Effect.flatMap(Health, ({ started }) => started)).pipe(Layer.provideMerge(Health.layer)),
    Metrics.layerTest,
    Logger.layer([
      lineLogger("json", (line) => {
        const { level, reason = "" } = JSON.parse(line) as { readonly level: string; readonly reason?: string }
        state.lines.push(`${level} ${reason}`.trim())
      })
    ])
  ).pipe(Layer.provideMerge(Layer.succeed(Role, "console")))
  return { state, run, runtime }
}

describe("a check", () => {
  const { state, run, runtime } = trial()
  it.effect("is run at once and every ten seconds, and shows and logs each change once", () =>
    Effect.gen(function* () {
      yield* check({ name: "clock", isNeeded: true, run })
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* seen, { ok: true, checks: { "clock console": "ok" }, failing: "0" })
      state.fault = "a minute fast"
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(yield* seen, { ok: false, checks: { "clock console": "a minute fast" }, failing: "1" })
      state.fault = "an hour fast"
      yield* TestClock.adjust("30 seconds")
      state.fault = undefined
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* seen, { ok: true, checks: { "clock console": "ok" }, failing: "0" })
      assert.strictEqual(state.runs, 8)
      assert.deepStrictEqual(state.lines, ["WARN a minute fast", "WARN an hour fast", "INFO"])
    }).pipe(Effect.scoped, Effect.provide(runtime))
  )

  it.effect("of what is outside of all replicas leaves the process ready", () =>
    Effect.gen(function* () {
      yield* check({ name: "gas", subject: "eip155:1", run: Effect.fail("nothing left") })
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* seen, { ok: true, checks: { "gas eip155:1": "nothing left" }, failing: "1" })
    }).pipe(Effect.scoped, Effect.provide(trial().runtime))
  )

  it.effect.each([
    ["hangs", Effect.never, 10_000, "no end within 10000 ms"],
    ["has a bug", Effect.die(new TypeError("undefined is no balance")), 0, "TypeError: undefined is no balance"]
  ] as const)("that %s fails, and is run again", ([, first, endMs, reason]) =>
    Effect.gen(function* () {
      let runs = 0
      yield* check({ name: "gas", run: Effect.suspend(() => (runs++ === 0 ? first : Effect.void)) })
      yield* TestClock.adjust(endMs)
      assert.deepStrictEqual((yield* seen).checks, { "gas console": reason })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual((yield* seen).checks, { "gas console": "ok" })
    }).pipe(Effect.scoped, Effect.provide(trial().runtime))
  )

  it.effect("stays as it was while it cannot be known", () => {
    const { state, runtime } = trial()
    return Effect.gen(function* () {
      let result: Effect.Effect<void, string | undefined> = Effect.fail("nothing left")
      yield* check({ name: "gas", run: Effect.suspend(() => result) })
      yield* TestClock.adjust(0)
      result = Effect.fail(undefined)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* seen).failing, "1")
      result = Effect.void
      yield* TestClock.adjust("10 seconds")
      result = Effect.fail(undefined)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* seen).failing, "0")
      assert.deepStrictEqual(state.lines, ["WARN nothing left", "INFO"])
    }).pipe(Effect.scoped, Effect.provide(runtime))
  })

  it.effect("is spared while real work does the same", () => {
    const { state, run, runtime } = trial()
    return Effect.gen(function* () {
      const worked = yield* check({ name: "speech", run })
      for (let second = 0; second < 60; second += 5) {
        worked()
        yield* TestClock.adjust("5 seconds")
      }
      assert.isAtMost(state.runs, 1)
      state.fault = "silence"
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual((yield* seen).failing, "1")
      worked()
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* seen).failing, "0")
    }).pipe(Effect.scoped, Effect.provide(runtime))
  })

  it.effect("that costs is run less often, and as often as any while it fails", () => {
    const { state, run, runtime } = trial()
    return Effect.gen(function* () {
      const slow = Effect.delay(run, "1 second")
      yield* check({ name: "speech", run: slow, pauseMs: (tookMs) => 99 * tookMs })
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(state.runs, 6)
      state.fault = "silence"
      yield* TestClock.adjust("3 minutes")
      assert.isAtLeast(state.runs, 6 + 8)
      state.fault = undefined
      yield* TestClock.adjust("11 seconds")
      assert.strictEqual((yield* seen).failing, "0")
    }).pipe(Effect.scoped, Effect.provide(runtime))
  })

  it.effect("leaves nothing behind when it ends", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.andThen(check({ name: "gas", isNeeded: true, run: Effect.fail("none") }), TestClock.adjust(0))
      )
      assert.deepStrictEqual(yield* seen, { ok: true, checks: {}, failing: undefined })
    }).pipe(Effect.provide(trial().runtime))
  )
})
