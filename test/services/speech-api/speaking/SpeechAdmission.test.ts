import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Configuration, Metrics } from "#runtime"
import type { Standing } from "../../../../services/speech-api/speaking/plan.ts"
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

const enterAs = Effect.fnUntraced(function* (request: string, standing: Partial<Standing> = {}) {
  const arrivedAtMs = yield* Clock.currentTimeMillis
  return yield* (yield* SpeechAdmission).enter({
    engine: "espeak",
    arrivedAtMs,
    plays: true,
    soundMs: 10_000,
    request,
    ...standing
  })
})
const enter = enterAs("hello")

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

// One begins at a time, and one that cannot be heard within half a second is refused.
const hasty = SpeechAdmission.layer.pipe(
  Layer.provide(
    Layer.mergeAll(
      Configuration.layerOf({ SpeechApi: { BeginningsAtOnce: 1, FirstSoundSecondsMax: 0.5 } }),
      Metrics.layerTest
    )
  )
)

describe("a caller that is refused", () => {
  /** The seconds that each is told to wait, while another one begins. */
  const told = Effect.fnUntraced(function* (requests: ReadonlyArray<string>) {
    yield* enter
    const asked = yield* Effect.forEach(requests, (request) => Effect.forkScoped(Effect.result(enterAs(request))))
    yield* TestClock.adjust("600 millis")
    const results = yield* Effect.forEach(asked, (one) => Fiber.join(one))
    return results.map(Result.match({ onSuccess: () => 0, onFailure: ({ retryAfterSeconds }) => retryAfterSeconds }))
  }, Effect.scoped)

  it.effect("counts once as before the others, however often it asks; others count each", () =>
    Effect.gen(function* () {
      const toOne = yield* Effect.forEach(Array<string>(12).fill("again"), (request) => told([request]))
      assert.isTrue(toOne.flat().every((seconds) => seconds >= 1 && seconds <= 2))
      const toMany = yield* told(Array.from({ length: 12 }, (_, nth) => `caller ${nth}`))
      assert.isAtLeast(Math.max(...toMany), 3)
    }).pipe(Effect.provide(hasty))
  )
})

describe("the next in line", () => {
  it.effect("begins in the moment in which the one before it is heard", () =>
    Effect.gen(function* () {
      const { listener } = yield* enter
      const next = yield* Effect.forkScoped(enterAs("next"))
      yield* TestClock.adjust("40 millis")
      listener.got(0.1, yield* Clock.currentTimeMillis)
      yield* Effect.yieldNow
      assert.isDefined(next.pollUnsafe())
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
})

describe("a live connection's next words", () => {
  it.effect("wait their turn where others are told to come again", () =>
    Effect.gen(function* () {
      const first = yield* Scope.make()
      yield* Scope.provide(enter, first)
      const live = yield* Effect.forkScoped(enterAs("live", { waitsTurn: true }))
      const other = yield* Effect.forkScoped(Effect.result(enterAs("other")))
      yield* TestClock.adjust("1 second")
      assert.isTrue(Result.isFailure(yield* Fiber.join(other)))
      assert.isUndefined(live.pollUnsafe())
      yield* Scope.close(first, Exit.void)
      yield* TestClock.adjust("100 millis")
      yield* Fiber.join(live)
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )

  it.effect("begin at once while its listener hears earlier ones, and no sequencer may refuse them", () =>
    Effect.gen(function* () {
      yield* enter
      const pace = yield* enterAs("live", { waitsTurn: true, goesOn: true })
      assert.isTrue(pace.mustBegin())
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
})
