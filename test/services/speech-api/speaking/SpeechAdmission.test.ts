import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Configuration, Metrics } from "#runtime"
import { SpeechAdmission } from "../../../../services/speech-api/speaking/SpeechAdmission.ts"

// One begins at a time; a caller that waits is promised a place, since it would begin within ten seconds.
const onePlace = SpeechAdmission.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Configuration.layerOf({ SpeechApi: { BeginningsAtOnce: 1, FirstSoundSecondsMax: 10 } }),
      Metrics.layerTest
    )
  )
)

const enter = Effect.gen(function* () {
  const arrivedAtMs = yield* Clock.currentTimeMillis
  return yield* (yield* SpeechAdmission).enter({ engine: "espeak", arrivedAtMs, plays: true })
})

describe("a caller's place", () => {
  it.effect("that is free at once is no promise: a sequencer may refuse the caller within a second", () =>
    Effect.gen(function* () {
      const arrivedAtMs = yield* Clock.currentTimeMillis
      const pace = yield* enter
      assert.isAtMost(pace.begunByMs() - arrivedAtMs, 1_000)
      yield* TestClock.adjust("20 seconds")
      assert.isFalse(pace.mustBegin())
    }).pipe(Effect.scoped, Effect.provide(onePlace))
  )

  it.effect(
    "that was waited for beyond the time of a refusal is kept by every sequencer while one is still looked for",
    () =>
      Effect.gen(function* () {
        const first = yield* Scope.make()
        yield* Scope.provide(enter, first)
        const waiting = yield* Effect.forkScoped(enter)
        yield* TestClock.adjust("1 second")
        yield* Scope.close(first, Exit.void)
        yield* TestClock.adjust("1 second")
        const pace = yield* Fiber.join(waiting)
        assert.isFalse(pace.mustBegin())
        yield* TestClock.adjust("3 seconds")
        assert.isTrue(pace.mustBegin())
        assert.isAbove(pace.begunByMs(), yield* Clock.currentTimeMillis)
      }).pipe(Effect.scoped, Effect.provide(onePlace))
  )
})
