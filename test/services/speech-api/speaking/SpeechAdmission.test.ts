import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import type { ListenerPriority } from "../../../../services/speech-api/speaking/plan.ts"
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

const enterAs = Effect.fnUntraced(function* (request: string, standing: Partial<ListenerPriority> = {}) {
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
        const { listener } = yield* Scope.provide(enter, first)
        const waiting = yield* Effect.forkScoped(enter)
        yield* TestClock.adjust("200 millis")
        // Too little to be heard: its engine makes sound.
        listener.got(0.05, yield* Clock.currentTimeMillis)
        yield* TestClock.adjust("800 millis")
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

const usual = SpeechAdmission.layer.pipe(Layer.provide(Layer.mergeAll(Configuration.layerOf({}), Metrics.layerTest)))

describe("a crowd whose engine makes no sound yet", () => {
  const callers = Array.from({ length: 24 }, (_, nth) => nth)
  /** How long each waited for its refusal; those that began are left out. */
  const refusedAfterMs = Effect.fnUntraced(function* (spreadMs: number, plays: boolean) {
    const asked = yield* Effect.forEach(callers, (nth) =>
      Effect.forkScoped(
        Effect.gen(function* () {
          yield* Effect.sleep((nth * spreadMs) / callers.length)
          const arrivedAtMs = yield* Clock.currentTimeMillis
          const entrance = { engine: "model-slow", arrivedAtMs, plays, soundMs: 5_000, request: `caller ${nth}` }
          const entered = yield* Effect.result((yield* SpeechAdmission).enter(entrance))
          const nowMs = yield* Clock.currentTimeMillis
          if (Result.isSuccess(entered)) entered.success.listener.wants(nowMs)
          return Result.isSuccess(entered) ? [] : [nowMs - arrivedAtMs]
        })
      )
    )
    for (let turn = 0; turn < 600; turn += 1) yield* TestClock.adjust("20 millis")
    return (yield* Effect.forEach(asked, (one) => Fiber.join(one))).flat()
  })

  it.effect.each(
    [0, 30, 100, 300, 600].flatMap((spreadMs) => [true, false].map((plays) => [spreadMs, plays] as const))
  )(
    "over %i ms, who plays it as it comes: %s, is refused within a second but for those who began",
    ([spreadMs, plays]) =>
      Effect.gen(function* () {
        const waits = yield* refusedAfterMs(spreadMs, plays)
        assert.isAtLeast(waits.length, callers.length - 8)
        assert.isBelow(Math.max(...waits), 1_000)
      }).pipe(Effect.scoped, Effect.provide(usual))
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

describe("what is spoken in the background", () => {
  const pieceMs = 10
  const rests = Effect.gen(function* () {
    const { turn } = yield* (yield* SpeechAdmission).background
    const waiting = yield* Effect.forkScoped(turn, { startImmediately: true })
    yield* TestClock.adjust(pieceMs)
    return waiting.pollUnsafe() === undefined
  }).pipe(Effect.scoped)

  it.effect("looks for a sequencer for seconds, and runs a few seconds ahead", () =>
    Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const pace = yield* (yield* SpeechAdmission).background
      yield* TestClock.adjust("2 seconds")
      assert.strictEqual(pace.begunByMs() - nowMs, 5_000)
      assert.isFalse(pace.mustBegin())
      assert.strictEqual(pace.windowSamplesMax(), 5 * 24_000)
    }).pipe(Effect.provide(hasty))
  )
  it.effect("takes a piece at a time, however fast its engine is", () =>
    Effect.gen(function* () {
      const { turn } = yield* (yield* SpeechAdmission).background
      const pieces = yield* Effect.forkScoped(Effect.replicateEffect(turn, 10), { startImmediately: true })
      yield* TestClock.adjust(10 * pieceMs - 1)
      assert.isUndefined(pieces.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.isDefined(pieces.pollUnsafe())
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
  it.effect("takes no place from a caller", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect((yield* SpeechAdmission).background, 100)
      yield* enter
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
  it.effect("rests while a caller waits or a listener needs sound, and goes on after that", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* rests)
      const { listener } = yield* enter
      assert.isFalse(yield* rests, "a listener that begins")
      const waiting = yield* Effect.forkScoped(Effect.scoped(enterAs("waits")))
      yield* Effect.yieldNow
      assert.isTrue(yield* rests, "a caller waits")
      yield* Fiber.interrupt(waiting)
      assert.isFalse(yield* rests)
      listener.wants(yield* Clock.currentTimeMillis)
      yield* TestClock.adjust("600 millis")
      assert.isTrue(yield* rests, "a listener begins slowly")
      listener.got(10, yield* Clock.currentTimeMillis)
      assert.isFalse(yield* rests)
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
})

describe("the next in line", () => {
  it.effect("begins in the moment in which the previous one it is heard", () =>
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
  it.effect("wait their turn where others are told to retry later", () =>
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
      const pace = yield* enterAs("live", { waitsTurn: true, isContinuation: true })
      assert.isTrue(pace.mustBegin())
    }).pipe(Effect.scoped, Effect.provide(hasty))
  )
})
