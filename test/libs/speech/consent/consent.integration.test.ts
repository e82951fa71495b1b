/** People of flite's read phrases; the real intake, recogniser and speaker check judge them. */
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { type Recording, RecordingIntake, type RecordingLimits } from "#audio"
import { decodeConfiguration } from "#contracts"
import {
  type ConsentSettings,
  consentSettings,
  ConsentVerification,
  makePhrase,
  SpeakerCheck,
  speakerCheckLayer
} from "#speech"
import { eventually, runningWith } from "../../../support/child-processes.ts"
import { anyLength, folder, metrics, speech, tone, writeRecording } from "../../../support/recordings.ts"
import { speakerModel } from "../../../support/speaker-model.ts"
import { ownTemporaryFolder } from "../../../support/temporary-folder.ts"

const settings = consentSettings(Result.getOrThrow(decodeConfiguration({})).VoiceCloning)

const verification = (other: Partial<ConsentSettings> = {}) =>
  ConsentVerification.layer({ ...settings, ...other }).pipe(Layer.provide(metrics))

const phraseAt = (start: number) => {
  let next = start
  return makePhrase((bound) => (next += 7) % bound)
}
const [asked, another] = [phraseAt(3), phraseAt(20)]

const story =
  "The harbour was quiet before sunrise. A single boat came in slowly, and the men on the pier waited with their hands in their pockets, watching the water turn from black to grey to blue. Nobody spoke until the ropes were tied."

const denial = asked.phrase.replace("I agree", "I do not agree")

const spoken = {
  phrase: ["selma", asked.phrase],
  sample: ["selma", story],
  stranger: ["roger", story],
  otherPhrase: ["selma", another.phrase],
  denial: ["selma", denial],
  noAgreement: ["selma", `It is a lovely day, and I have been asked to read. ${asked.words.join(", ")}.`],
  story: ["selma", story]
} as const

let recordings: Readonly<Record<keyof typeof spoken, Recording>>
const scope = Scope.makeUnsafe()

beforeAll(() =>
  Effect.gen(function* () {
    const intake = yield* RecordingIntake
    const at = yield* folder
    const names = Object.keys(spoken) as ReadonlyArray<keyof typeof spoken>
    const voices = yield* speech(names.map((name) => spoken[name]))
    const read = yield* Effect.forEach(names, (name, index) =>
      Effect.gen(function* () {
        const path = join(at, `${name}.${index % 2 === 0 ? "webm" : "m4a"}`)
        yield* writeRecording(path, voices[index] ?? new Int16Array(), index % 2 === 0 ? ["-c:a", "libopus"] : [])
        return [name, yield* intake.readRecording(path, anyLength)] as const
      })
    )
    recordings = Object.fromEntries(read) as typeof recordings
  }).pipe(Effect.provide(RecordingIntake.layer().pipe(Layer.provide(metrics))), Scope.provide(scope), Effect.runPromise)
)
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const verify = (recording: Recording, sample = recordings.sample) =>
  Effect.flatMap(ConsentVerification, (service) => service.verify({ words: asked.words, recording, sample }))

/** What a check keeps on disk, where nobody else keeps anything. */
const keeping = Effect.map(
  ownTemporaryFolder,
  (at) => () => readdirSync(at).filter((name) => name.startsWith("starling-consent-"))
)

describe("a consent", () => {
  it.live("is verified when the speaker of the sample reads the phrase", () =>
    Effect.gen(function* () {
      const kept = yield* keeping
      const evidence = yield* verify(recordings.phrase)
      assert.isAtLeast(evidence.wordsMatched, 4)
      assert.strictEqual(evidence.wordsAsked, 5)
      assert.strictEqual(evidence.phraseEngine, "pocketsphinx")
      assert.strictEqual(evidence.speakerStrength, "weak")
      assert.isBelow(evidence.speakerDistance, evidence.speakerThreshold)
      assert.deepStrictEqual(kept(), [])
    }).pipe(Effect.scoped, Effect.provide(verification()))
  )

  it.live.each(["otherPhrase", "denial", "noAgreement", "story"] as const)(
    "is refused when something else is said: %s",
    (name) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(verify(recordings[name]))
        assert.strictEqual(error._tag, "PhraseMismatch")
        if (error._tag === "PhraseMismatch") assert.isBelow(error.wordsMatched, error.wordsMin)
      }).pipe(Effect.provide(verification()))
  )

  it.live("is refused when somebody else reads it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(verify(recordings.phrase, recordings.stranger))
      assert.strictEqual(error._tag, "SpeakerMismatch")
      if (error._tag === "SpeakerMismatch") assert.isAbove(error.distance, error.distanceMax)
    }).pipe(Effect.provide(verification()))
  )

  it.live("is refused when there is nothing but a tone", () =>
    Effect.gen(function* () {
      const samples = tone(8).map((sample) => sample)
      const error = yield* Effect.flip(verify({ ...recordings.phrase, samples }))
      assert.strictEqual(error._tag, "PhraseMismatch")
    }).pipe(Effect.provide(verification()))
  )
})

describe("what is sent for a consent", () => {
  const limits: RecordingLimits = settings.consentRecording
  it.live.each([
    ["four seconds", "too_short", tone(4)],
    ["31 seconds", "too_long", tone(31)],
    ["silence", "silent", new Int16Array(24_000 * 8)],
    ["a microphone turned up too far", "clipped", tone(8, 200_000)]
  ] as const)("is refused at the configuration's limits: %s", ([, reason, pcm]) =>
    Effect.gen(function* () {
      const path = join(yield* folder, "recording.wav")
      yield* writeRecording(path, pcm)
      const intake = yield* RecordingIntake
      const error = yield* Effect.flip(intake.readRecording(path, limits))
      assert.strictEqual(error._tag, "RecordingUnusable")
      if (error._tag === "RecordingUnusable") assert.strictEqual(error.reason, reason)
      assert.match(error.message, /^consent_recording cannot be used/u)
    }).pipe(Effect.scoped, Effect.provide(RecordingIntake.layer().pipe(Layer.provide(metrics))))
  )
})

describe("a verification", () => {
  const unavailable = (other: Partial<ConsentSettings>) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(verify(recordings.phrase))
      assert.strictEqual(error._tag, "VerificationUnavailable")
      return error
    }).pipe(Effect.provide(verification(other)))

  it.live("says what to install when the recogniser is missing", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ pocketsphinxPath: "/nowhere/pocketsphinx" })
      assert.match(error.message, /missing.*\/nowhere\/pocketsphinx.*apt-get install pocketsphinx/u)
    })
  )

  it.live("says what to install when the recogniser's model is missing", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ pocketsphinxModelFolder: "/nowhere" })
      assert.match(error.message, /missing.*\/nowhere\/cmudict-en-us\.dict.*apt-get install pocketsphinx-en-us/u)
    })
  )

  it.live("fails when the recogniser does", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ pocketsphinxPath: "/bin/false" })
      assert.match(error.message, /phrase check is not available \(failed\)/u)
    })
  )

  it.live("leaves no process and no file behind when the caller goes", () =>
    Effect.gen(function* () {
      // Ours among those of everybody on the machine.
      const sleeper = `sleep 73.${process.pid}s`
      const hanging = join(yield* folder, "recogniser")
      writeFileSync(hanging, `#!/bin/sh\n${sleeper} & ${sleeper}\n`)
      chmodSync(hanging, 0o755)
      const kept = yield* keeping
      const sleepers = () => runningWith(sleeper).length
      yield* Effect.gen(function* () {
        const verifying = yield* Effect.forkChild(verify(recordings.phrase))
        yield* eventually("the recogniser runs", () => sleepers() === 2)
        assert.strictEqual(kept().length, 1)
        yield* Fiber.interrupt(verifying)
        yield* eventually("nothing of it runs", () => sleepers() === 0)
        assert.deepStrictEqual(kept(), [])
      }).pipe(Effect.provide(verification({ pocketsphinxPath: hanging })))
    }).pipe(Effect.scoped)
  )
})

describe("the built-in speaker check", () => {
  it.live("leaves the event loop to others while it listens", () =>
    Effect.gen(function* () {
      const check = yield* SpeakerCheck
      yield* check.distance(recordings.sample, recordings.stranger)
      let longest = 0
      let last = performance.now()
      const ticking = setInterval(() => {
        longest = Math.max(longest, performance.now() - last)
        last = performance.now()
      }, 1)
      const started = performance.now()
      for (let time = 0; time < 5; time++) yield* check.distance(recordings.sample, recordings.stranger)
      clearInterval(ticking)
      assert.isBelow(longest, (performance.now() - started) / 2)
    }).pipe(Effect.provide(speakerCheckLayer(settings)))
  )

  it.live("answers many at once, each its own", () =>
    Effect.gen(function* () {
      const check = yield* SpeakerCheck
      const { sample, phrase, stranger } = recordings
      const pairs = [
        [sample, phrase],
        [sample, stranger],
        [sample, sample],
        [phrase, stranger]
      ] as const
      const alone = yield* Effect.forEach(pairs, ([one, other]) => check.distance(one, other))
      const together = yield* Effect.forEach(pairs, ([one, other]) => check.distance(one, other), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(together, alone)
      assert.approximately(alone[2] ?? 1, 0, 1e-6)
    }).pipe(Effect.provide(speakerCheckLayer(settings)))
  )
})

describe("a speaker check by a model", () => {
  const withModel = (content: Uint8Array | string, distanceMax = 0.1) =>
    Effect.map(folder, (at) => {
      const speakerModelFolder = join(at, "model")
      mkdirSync(speakerModelFolder)
      writeFileSync(join(speakerModelFolder, "model.onnx"), content)
      return { ...settings, speakerModelFolder, speakerModelDistanceMax: distanceMax }
    })

  it.live("tells the speaker of the sample from a stranger, and calls itself strong", () =>
    Effect.gen(function* () {
      const model = yield* withModel(speakerModel())
      yield* Effect.gen(function* () {
        const check = yield* SpeakerCheck
        assert.strictEqual(check.strength, "strong")
        const same = yield* check.distance(recordings.phrase, recordings.sample)
        const different = yield* check.distance(recordings.phrase, recordings.stranger)
        assert.isBelow(same, different / 2)
        assert.approximately(yield* check.distance(recordings.sample, recordings.sample), 0, 1e-5)
      }).pipe(Effect.provide(speakerCheckLayer(model)))
    }).pipe(Effect.scoped)
  )

  it.live("is what a verification rests on", () =>
    Effect.gen(function* () {
      const model = yield* withModel(speakerModel(), 1)
      const evidence = yield* Effect.provide(verify(recordings.phrase), verification(model))
      assert.strictEqual(evidence.speakerMethod, "speaker-embedding")
      assert.strictEqual(evidence.speakerStrength, "strong")
      assert.strictEqual(evidence.speakerThreshold, 1)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["no model at all", "this is a letter"],
    ["nothing", ""],
    ["a model for something else", speakerModel({ framework: "cakes" })],
    ["a model that does not say its rate", speakerModel({ sample_rate: "often" })]
  ] as const)("stops the start, with what is wrong, when the file is %s", ([, content]) =>
    Effect.gen(function* () {
      const model = yield* withModel(content)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(speakerCheckLayer(model))))
      assert.strictEqual(error._tag, "SpeakerModelUnusable")
      assert.include(error.message, `VoiceCloning.SpeakerModelFolder ${model.speakerModelFolder} cannot be used: `)
      assert.isAbove(error.detail.length, 20)
    }).pipe(Effect.scoped)
  )

  it.live("stops the start when there is no such folder", () =>
    Effect.gen(function* () {
      const layer = speakerCheckLayer({ ...settings, speakerModelFolder: "/nowhere" })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.match(error.message, /SpeakerModelFolder \/nowhere cannot be used/u)
    })
  )
})
