/** The order and the bounds of a verification, over ports with given answers; the real ones have their own tests. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import type { Recording } from "#audio"
import { decodeConfiguration } from "#contracts"
import { Metrics, Role } from "#runtime"
import { ConsentVerification, PhraseCheck, SpeakerCheck, VerificationUnavailable } from "#voice-cloning"

const settings = Result.getOrThrow(decodeConfiguration({})).VoiceCloning

const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-api")))

interface Answers {
  readonly hear?: PhraseCheck["Service"]["hear"]
  readonly distance?: SpeakerCheck["Service"]["distance"]
}

const words = ["banana", "rocket", "window", "piano", "umbrella"]

const verification = ({
  hear = () => Effect.succeed(words),
  distance = () => Effect.succeed(settings.SpeakerDistanceMax)
}: Answers = {}) =>
  ConsentVerification.layerNoDeps({ ...settings, VerificationsMax: 1 }).pipe(
    Layer.provide([
      Layer.succeed(PhraseCheck, { engine: "ear", hear }),
      Layer.succeed(SpeakerCheck, {
        method: "given",
        strength: "weak",
        distanceMax: settings.SpeakerDistanceMax,
        distance
      })
    ]),
    Layer.provideMerge(metrics)
  )

const recording = (seconds: number, levels: Partial<Recording["levels"]> = {}): Recording => ({
  samples: new Int16Array(10),
  seconds,
  levels: { silenceRatio: 0.2, clippingRatio: 0, ...levels }
})
const claim = { words, recording: recording(8), sample: recording(12) }

const verify = (order: Partial<typeof claim> = {}) =>
  Effect.flatMap(ConsentVerification, (service) => service.verify({ ...claim, ...order }))

const counted = (outcome: string) =>
  Effect.gen(function* () {
    const text = yield* (yield* Metrics).text
    const line = text
      .split("\n")
      .find((one) => one.includes(`speech_consent_checks_total{role="speech-api",outcome="${outcome}"}`))
    return Number(line?.split(" ").at(-1) ?? 0)
  })

describe("a consent", () => {
  it.effect("by the speaker of the sample is verified, with its evidence", () =>
    Effect.gen(function* () {
      const evidence = yield* verify()
      assert.deepStrictEqual(evidence, {
        heardWords: words,
        wordsMatched: 5,
        wordsAsked: 5,
        phraseEngine: "ear",
        speakerDistance: settings.SpeakerDistanceMax,
        speakerThreshold: settings.SpeakerDistanceMax,
        speakerMethod: "given",
        speakerStrength: "weak"
      })
      assert.strictEqual(yield* counted("verified"), 1)
    }).pipe(Effect.provide(verification()))
  )

  const heard = (count: number) => () => Effect.succeed(words.slice(0, count))
  const apart = (distance: number) => () => Effect.succeed(distance)
  const broken = new VerificationUnavailable({ stage: "phrase", reason: "missing", detail: "", retryAfterSeconds: 60 })

  it.effect.each([
    ["with four words of five", { hear: heard(4) }, {}, "verified"],
    ["with three", { hear: heard(3) }, {}, "phrase_mismatch"],
    ["with none", { hear: heard(0) }, {}, "phrase_mismatch"],
    ["of a voice too far away", { distance: apart(settings.SpeakerDistanceMax + 0.01) }, {}, "speaker_mismatch"],
    ["of a voice that is no number away", { distance: apart(Number.NaN) }, {}, "unavailable"],
    ["of 4 seconds", {}, { recording: recording(4) }, "unusable"],
    ["of 31 seconds", {}, { recording: recording(31) }, "unusable"],
    ["with a sample of 9 seconds", {}, { sample: recording(9) }, "unusable"],
    ["with a sample of silence", {}, { sample: recording(12, { silenceRatio: 1 }) }, "unusable"],
    ["that is clipped", {}, { recording: recording(8, { clippingRatio: 0.2 }) }, "unusable"],
    ["without a recogniser", { hear: () => Effect.fail(broken) }, {}, "unavailable"]
  ] as const)("%s", ([, answers, order, outcome]) =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(verify(order))
      assert.strictEqual(exit._tag, outcome === "verified" ? "Success" : "Failure")
      assert.strictEqual(yield* counted(outcome), 1)
    }).pipe(Effect.provide(verification(answers)))
  )

  it.effect("is not transcribed when a recording is unusable, and the fault names the recording", () => {
    let listened = 0
    return Effect.gen(function* () {
      const error = yield* Effect.flip(verify({ sample: recording(3) }))
      assert.match(error.message, /^sample cannot be used: it is 3\.0 seconds long/u)
      assert.strictEqual(listened, 0)
    }).pipe(Effect.provide(verification({ hear: () => Effect.sync(() => ((listened += 1), words)) })))
  })

  it.effect("is given up when a check does not answer in time", () =>
    Effect.gen(function* () {
      const waiting = yield* Effect.forkChild(Effect.flip(verify()))
      yield* TestClock.adjust("20 seconds")
      const error = yield* Fiber.join(waiting)
      assert.strictEqual(error._tag, "VerificationUnavailable")
      if (error._tag === "VerificationUnavailable") assert.strictEqual(error.reason, "timeout")
    }).pipe(Effect.provide(verification({ distance: () => Effect.never })))
  )

  it.effect("waits for others, and is refused at once when too many wait", () =>
    Effect.gen(function* () {
      const gate = yield* Deferred.make<void>()
      const layer = verification({ hear: () => Effect.as(Deferred.await(gate), words) })
      yield* Effect.gen(function* () {
        const nine = yield* Effect.forEach(Array.from({ length: 9 }), () => Effect.forkChild(verify()))
        yield* Effect.yieldNow
        const error = yield* Effect.flip(verify())
        assert.strictEqual(error._tag, "VerificationUnavailable")
        yield* Deferred.succeed(gate, undefined)
        assert.strictEqual((yield* Fiber.joinAll(nine)).length, 9)
        assert.strictEqual(yield* counted("verified"), 9)
        // All slots are free again.
        yield* verify()
      }).pipe(Effect.provide(layer))
    })
  )
})
