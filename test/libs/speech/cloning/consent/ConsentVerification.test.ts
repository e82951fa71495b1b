/** The order and the bounds of a verification, over ports with given answers; the real ones have their own tests. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import type { Recording } from "#speech/audio"
import { decodeConfiguration } from "#configuration"
import { Metrics, Role } from "#runtime"
import {
  ConsentVerification,
  PhraseCheck,
  phraseWordsMatched,
  SpeakerCheck,
  VerificationUnavailable
} from "#speech/cloning"

const settings = Result.getOrThrow(decodeConfiguration({})).VoiceCloning

const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-api")))

interface Answers {
  readonly hear?: PhraseCheck["Service"]["transcribe"]
  readonly distance?: SpeakerCheck["Service"]["distance"]
}

const words = ["banana", "rocket", "window", "piano", "umbrella"]

const verification = ({
  hear: transcribe = () => Effect.succeed(words),
  distance = () => Effect.succeed(settings.SpeakerDistanceMax)
}: Answers = {}) =>
  ConsentVerification.layerNoDeps({ ...settings, VerificationsMax: 1 }).pipe(
    Layer.provide([
      Layer.succeed(PhraseCheck, { engine: "ear", transcribe }),
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
    ["with four words of five", "verified", { hear: heard(4) }, {}],
    ["with three", "phrase_mismatch", { hear: heard(3) }, {}],
    ["with none", "phrase_mismatch", { hear: heard(0) }, {}],
    ["of a voice too far away", "speaker_mismatch", { distance: apart(settings.SpeakerDistanceMax + 0.01) }, {}],
    ["of a voice that is no number away", "unavailable", { distance: apart(Number.NaN) }, {}],
    ["of 4 seconds", "unusable", {}, { recording: recording(4) }],
    ["of 31 seconds", "unusable", {}, { recording: recording(31) }],
    ["with a sample of 9 seconds", "unusable", {}, { sample: recording(9) }],
    ["with a sample of silence", "unusable", {}, { sample: recording(12, { silenceRatio: 1 }) }],
    ["that is clipped", "unusable", {}, { recording: recording(8, { clippingRatio: 0.2 }) }],
    ["without a recogniser", "unavailable", { hear: () => Effect.fail(broken) }, {}]
  ] as const)("%s counts as %s", ([, outcome, answers, order]) =>
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

  it.effect("is abandoned when a check does not answer in time", () =>
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

describe("the words of a phrase", () => {
  it.each([
    ["a b c d e", "a b c d e", 5],
    ["a b c d e", "a x c d e", 4],
    ["a b c d e", "b c d e", 4],
    ["a b c d e", "x a b c d e y", 5],
    ["a b c d e", "e d c b a", 1],
    ["a b c d e", "b a d c e", 3],
    ["a b c d e", "a a a a a", 1],
    ["a b c d e", "", 0],
    ["", "a", 0]
  ] as const)("%s, heard as %s, match in %d", (phrase, heard, matched) => {
    const split = (text: string) => text.split(" ").filter((word) => word !== "")
    assert.strictEqual(phraseWordsMatched(split(phrase), split(heard)), matched)
  })
})
