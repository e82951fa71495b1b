import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { type EnginePoolOptions, openEnginePool } from "../../../../libs/speech/engine/EnginePool.ts"
import { EngineBusy, EngineFailed, EngineMissing } from "../../../../libs/speech/engine/Engine.ts"
import { Metrics } from "#runtime"
import { heard, jobOf, metrics, piece, voiceOf } from "./jobs.ts"

const open = (options: Partial<EnginePoolOptions> = {}) =>
  openEnginePool({
    engine: "fake",
    speaks: "espeak",
    entry: new URL("./fake-thread.ts", import.meta.url),
    packages: "libnothing1",
    ...options
  })
const job = (text: string) => jobOf(voiceOf("espeak", "any"), piece(text))

describe("a pool of engine threads", () => {
  it.live.each(["crash", "exit"])("fails the job whose thread dies (%s), and goes on with another", (how) =>
    Effect.gen(function* () {
      const engine = yield* open()

      const error = yield* Effect.flip(heard(engine, job(how)))
      const after = yield* heard(engine, job("fine"))

      assert.instanceOf(error, EngineFailed)
      assert.strictEqual(error.reason, "crashed")
      assert.strictEqual(after.pcm.length, 1200)
      const text = yield* (yield* Metrics).text
      assert.match(text, /speech_engine_threads_replaced_total\{.*engine="fake"\} 1/u)
      assert.match(text, /speech_engine_jobs_running\{.*engine="fake"\} 0/u)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("speaks the text of words whose phonemes the engine does not read, and counts them", () =>
    Effect.gen(function* () {
      const engine = yield* open({})
      const word = { from: 0, to: 4, ipa: "faɪn" }

      const { pcm } = yield* heard(engine, jobOf(voiceOf("flite", "any"), piece("fine", { pronunciations: [word] })))

      assert.strictEqual(pcm.length, 1200)
      const text = yield* (yield* Metrics).text
      assert.match(text, /speech_pronunciations_total\{.*engine="fake",.*spoken="text"\} 1/u)
      assert.match(text, /speech_pronunciations_total\{.*engine="fake",.*spoken="phonemes"\} 0/u)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("gives up a thread that hangs", () =>
    Effect.gen(function* () {
      const engine = yield* open({ jobMsMax: 2_000 })

      const error = yield* Effect.flip(heard(engine, job("hang")))
      const after = yield* heard(engine, job("fine"))

      assert.instanceOf(error, EngineFailed)
      assert.strictEqual(error.reason, "stalled")
      assert.strictEqual(after.pcm.length, 1200)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("reports that it is busy when too many jobs wait", () =>
    Effect.gen(function* () {
      const engine = yield* open({ waitingMax: 1 })
      const isSpeaking = yield* Deferred.make<void>()
      const spoken = Stream.runForEach(engine.synthesize(job("slow")), () => Deferred.succeed(isSpeaking, undefined))
      const running = yield* Effect.forkChild(spoken)
      yield* Deferred.await(isSpeaking)
      const waiting = yield* Effect.forkChild(heard(engine, job("fine")), { startImmediately: true })

      const refused = yield* Effect.flip(heard(engine, job("fine")))

      assert.instanceOf(refused, EngineBusy)
      yield* Fiber.interrupt(running)
      assert.strictEqual((yield* Fiber.join(waiting)).pcm.length, 1200)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("stops within a callback when its reader leaves", () =>
    Effect.gen(function* () {
      const engine = yield* open()

      const waits: Array<number> = []
      for (let time = 0; time < 5; time++) {
        const first = yield* Stream.runCollect(Stream.take(engine.synthesize(job("slow")), 1))
        const begun = performance.now()
        yield* heard(engine, job("fine"))
        waits.push(performance.now() - begun)
        assert.strictEqual(first.length, 1)
      }

      // The whole job would take more than ten seconds; a machine with other work may be late with some of them.
      assert.isBelow(Math.min(...waits), 300)
      assert.isBelow(Math.max(...waits), 5_000)
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("loses no slot to jobs that are interrupted while they wait or begin", () =>
    Effect.gen(function* () {
      const engine = yield* open({ threads: 2 })

      const jobs = yield* Effect.forEach(Array.from({ length: 40 }), () => Effect.forkChild(heard(engine, job("slow"))))
      yield* Effect.sleep("20 millis")
      yield* Fiber.interruptAll(jobs)
      const after = yield* Effect.all([heard(engine, job("fine")), heard(engine, job("fine"))], { concurrency: 2 })

      assert.deepStrictEqual(
        after.map((one) => one.pcm.length),
        [1200, 1200]
      )
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("ends a job that would speak for more than ten minutes", () =>
    Effect.gen(function* () {
      const engine = yield* open()

      const error = yield* Effect.flip(heard(engine, job("endless")))

      assert.instanceOf(error, EngineFailed)
      assert.strictEqual(error.reason, "too_long")
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
  it.live("names the package to install when the host lacks it", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(open({ entry: new URL("./missing-thread.ts", import.meta.url) }))

      assert.isTrue(Exit.isFailure(exit))
      const error = yield* Effect.flip(exit)
      assert.instanceOf(error, EngineMissing)
      assert.include(error.message, "libnothing1")
    }).pipe(Effect.scoped, Effect.provide(metrics))
  )
})
