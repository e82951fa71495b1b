import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { startThread } from "../../../../libs/speech/engine/EngineThread.ts"
import { embedded } from "../../../../libs/speech/engine/embedded.ts"
import { jobOf, piece, voiceOf } from "./jobs.ts"

const long = "The river runs past the old mill, and in the evening the children walk home along its bank. ".repeat(40)
const times = 4
// From the first line of the thread's code to long after its warm-up.
const startedForMs = Array.from({ length: 9 }, (_, index) => 40 + index * 50)

describe.each([
  ["espeak", "en-gb-x-rp"],
  ["flite", "slt"]
] as const)("a thread of %s", (engine, name) => {
  const start = startThread({
    engine,
    speaks: engine,
    packages: embedded[engine].packages
  })

  it.live("stops in the middle of the engine's code without harm to other threads", () =>
    Effect.gen(function* () {
      for (let time = 0; time < times; time++) {
        const thread = yield* start
        const speaking = yield* Deferred.make<void>()
        const job = yield* thread.begin(jobOf(voiceOf(engine, name), piece(long)), () =>
          Deferred.doneUnsafe(speaking, Effect.void)
        )
        yield* Effect.raceFirst(Deferred.await(speaking), job.ended)
        yield* thread.stop
        assert.isFalse(thread.isAlive())
      }
    })
  )

  it.live("can be cancelled at any moment of its start without harm to other threads", () =>
    Effect.gen(function* () {
      for (const ms of startedForMs) {
        const starting = yield* Effect.forkChild(start, { startImmediately: true })
        yield* Effect.sleep(ms)
        yield* Fiber.interrupt(starting)
      }
      const after = yield* start
      const job = yield* after.begin(jobOf(voiceOf(engine, name), piece("Still here.")), () => {})
      const { outcome, samples } = yield* job.ended
      yield* after.stop
      assert.deepStrictEqual(outcome, { kind: "spoken" })
      assert.isAbove(samples, 0)
    })
  )
})
