import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream, SubscriptionRef } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "#configuration"
import { Environment, Health, Metrics } from "#runtime"
import type { EngineState } from "#speech/contract"
import type { EngineFrame, SpeechEngine } from "#speech"
import { EngineFailed } from "../../../libs/speech/engine/Engine.ts"
import { checkEngine } from "../../../services/speech-synthesizer/engine-check.ts"

const runtime = Layer.mergeAll(
  Health.layer,
  Metrics.layerTest,
  Configuration.layerOf({}),
  Layer.succeed(Environment, {})
)

const frame = (level: number): EngineFrame => ({ pcm: new Int16Array(240).fill(level), words: [] })

const shown = Effect.flatMap(Health, ({ ready }) => Effect.map(ready, ({ checks }) => checks["speech espeak"]))

describe("the check of an engine", () => {
  it.effect.each([
    ["speaks", Stream.make(frame(0), frame(9_000)), "ok"],
    ["is silent", Stream.make(frame(20)), "it spoke a word without a sound"],
    ["says nothing", Stream.empty, "it spoke a word without a sound"],
    ["hangs", Stream.never, "no end within 10000 ms"],
    [
      "fails",
      Stream.fail(new EngineFailed({ engine: "espeak", reason: "crashed", detail: "signal 11" })),
      "cannot speak: the engine espeak failed (crashed): signal 11"
    ]
  ] as const)("that %s says so", ([, spoken, expected]) =>
    Effect.gen(function* () {
      yield* checkEngine({ name: "espeak", synthesize: () => spoken })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown, expected)
    }).pipe(Effect.scoped, Effect.provide(runtime))
  )

  it.effect("that is slower than real time says nothing of one in the middle of a long sentence", () => {
    const model = { Id: "slow", Folder: "/nowhere", RealTime: false, Voices: [{ Id: "dora", Locale: "es-ES" }] }
    return Effect.gen(function* () {
      yield* checkEngine({ name: "model-slow", synthesize: () => Stream.never })
      yield* TestClock.adjust("2 minutes")
      const { checks } = yield* Effect.flatMap(Health, ({ ready }) => ready)
      assert.strictEqual(checks["speech model-slow"], "ok")
    }).pipe(Effect.scoped, Effect.provide(Layer.merge(runtime, Configuration.layerOf({ Voices: { Models: [model] } }))))
  })

  it.effect("that is being opened is waited for, and one that could not be opened says why", () =>
    Effect.gen(function* () {
      const state = yield* SubscriptionRef.make<EngineState>({ state: "opening" })
      const engine: SpeechEngine = { name: "espeak", state, synthesize: () => Stream.die("it is not open") }
      yield* checkEngine(engine)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* shown, "ok")
      yield* SubscriptionRef.set(state, { state: "failed", detail: "no model" })
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* shown, "cannot speak: no model")
    }).pipe(Effect.scoped, Effect.provide(runtime))
  )

  it.effect("takes a hundredth of an idle engine's time, and none of a busy one's", () =>
    Effect.gen(function* () {
      let words = 0
      const slow = Stream.suspend(() => {
        words += 1
        return Stream.fromEffect(Effect.delay(Effect.succeed(frame(9_000)), "600 millis"))
      })
      const worked = yield* checkEngine({ name: "espeak", synthesize: () => slow })
      yield* TestClock.adjust("599 seconds")
      assert.strictEqual(words, 10)
      for (let second = 0; second < 600; second += 5) {
        worked()
        yield* TestClock.adjust("5 seconds")
      }
      assert.isAtMost(words, 11)
    }).pipe(Effect.scoped, Effect.provide(runtime))
  )
})
