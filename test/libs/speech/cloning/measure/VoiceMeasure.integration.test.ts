import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Metrics } from "#runtime"
import { TooLittleVoice, VoiceMeasure, VoiceMeasureUnavailable } from "#speech/cloning"
import { measureVoice } from "../../../../../libs/speech/cloning/measure/measure-voice.ts"
import { metrics } from "../../engine/jobs.ts"
import { signalHz, tone, whiteNoise } from "./signals.ts"

const provided = <A, E>(effect: Effect.Effect<A, E, VoiceMeasure | Metrics>) =>
  effect.pipe(Effect.provide(VoiceMeasure.layer.pipe(Layer.provideMerge(metrics))))

const sample = (pitchHz: number, seconds = 15) =>
  tone({ seconds, pitchAt: () => pitchHz, harmonics: [1, 0.8, 0.6, 0.5, 0.3], noiseDb: -30 })

describe("the measuring of samples", () => {
  it.live("measures the same in its thread as in ours, and leaves ours free", () =>
    provided(
      Effect.gen(function* () {
        const samples = sample(140, 30)
        let beats = 0
        const beating = yield* Effect.forkChild(
          Effect.forever(
            Effect.delay(
              Effect.sync(() => (beats += 1)),
              "5 millis"
            )
          )
        )
        const traits = yield* (yield* VoiceMeasure).measure({ samples })
        yield* Fiber.interrupt(beating)

        const ours = measureVoice(samples, signalHz)
        assert.deepStrictEqual(ours, { kind: "measured", traits })
        // Half a second of computing in one piece would have let it beat a few times at most.
        assert.isAtLeast(beats, 10)
        const text = yield* (yield* Metrics).text
        assert.match(text, /speech_voice_measures_total\{.*outcome="measured"\} 1/u)
      })
    )
  )
  it.live("states how much voice a sample had when it was too little", () =>
    provided(
      Effect.gen(function* () {
        const error = yield* Effect.flip((yield* VoiceMeasure).measure({ samples: whiteNoise(12) }))

        assert.instanceOf(error, TooLittleVoice)
        assert.match(error.message, /3 s are needed/u)
      })
    )
  )
  it.live("rejects calls above its queue, and serves those that wait", () =>
    provided(
      Effect.gen(function* () {
        const { measure } = yield* VoiceMeasure
        const short = sample(200, 4)

        const exits = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => Effect.result(measure({ samples: short })),
          { concurrency: "unbounded" }
        )

        const refused = exits.filter((one) => one._tag === "Failure").map((one) => one.failure)
        assert.strictEqual(refused.length, 2)
        assert.isTrue(refused.every((error) => error instanceof VoiceMeasureUnavailable && error.reason === "busy"))
      })
    )
  )
  it.live("frees its slot when the caller leaves", () =>
    provided(
      Effect.gen(function* () {
        const { measure } = yield* VoiceMeasure
        for (let time = 0; time < 20; time++) {
          const running = yield* Effect.forkChild(measure({ samples: sample(100, 30) }))
          yield* Effect.yieldNow
          yield* Fiber.interrupt(running)
        }

        const traits = yield* measure({ samples: sample(180, 5) })

        assert.closeTo(traits.medianPitchHz, 180, 2)
      })
    )
  )
})
