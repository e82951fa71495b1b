/** People of flite's read phrases; the real intake, recogniser and speaker check judge them. */
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import { type Recording, RecordingIntake } from "#speech/audio"
import type { ConfigurationFile } from "#configuration"
import { consentLimits } from "#speech/cloning"
import { runningWith } from "../../../../support/child-processes.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"
import { folder, metrics, tone, writeRecording } from "../../../../support/recordings.ts"
import { ownTemporaryFolder } from "../../../../support/temporary-folder.ts"
import { readRecordings, type Recordings, settings, verification, verify as verifyAgainst } from "./recordings.ts"

let recordings: Recordings
const scope = Scope.makeUnsafe()

beforeAll(async () => {
  recordings = await Effect.runPromise(Scope.provide(readRecordings, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const verify = (recording: Recording, sample = recordings.sample) => verifyAgainst(recording, sample)

/** A check's files on disk, in a folder of its own. */
const consentFolders = Effect.map(
  ownTemporaryFolder,
  (at) => () => readdirSync(at).filter((name) => name.startsWith("starling-consent-"))
)

describe("a consent", () => {
  it.live("is verified when the speaker of the sample reads the phrase", () =>
    Effect.gen(function* () {
      const folders = yield* consentFolders
      const evidence = yield* verify(recordings.phrase)
      assert.isAtLeast(evidence.wordsMatched, 4)
      assert.strictEqual(evidence.wordsAsked, 5)
      assert.strictEqual(evidence.phraseEngine, "pocketsphinx")
      assert.strictEqual(evidence.speakerStrength, "weak")
      assert.isBelow(evidence.speakerDistance, evidence.speakerThreshold)
      assert.deepStrictEqual(folders(), [])
    }).pipe(Effect.scoped, Effect.provide(verification()))
  )

  it.live.each(["otherPhrase", "denial", "noAgreement", "story"] as const)(
    "is refused when other words are spoken: %s",
    (name) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(verify(recordings[name]))
        assert.strictEqual(error._tag, "PhraseMismatch")
        if (error._tag === "PhraseMismatch") assert.isBelow(error.wordsMatched, error.wordsMin)
      }).pipe(Effect.provide(verification()))
  )

  it.live("is refused when another person reads it", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(verify(recordings.phrase, recordings.stranger))
      assert.strictEqual(error._tag, "SpeakerMismatch")
      if (error._tag === "SpeakerMismatch") assert.isAbove(error.distance, error.distanceMax)
    }).pipe(Effect.provide(verification()))
  )

  it.live("is refused when it contains only a tone", () =>
    Effect.gen(function* () {
      const samples = tone(8).map((sample) => sample)
      const error = yield* Effect.flip(verify({ ...recordings.phrase, samples }))
      assert.strictEqual(error._tag, "PhraseMismatch")
    }).pipe(Effect.provide(verification()))
  )
})

describe("a recording for a consent", () => {
  const limits = consentLimits(settings).consentRecording
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
  const unavailable = (other: Partial<ConfigurationFile["VoiceCloning"]>) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(verify(recordings.phrase))
      assert.strictEqual(error._tag, "VerificationUnavailable")
      return error
    }).pipe(Effect.provide(verification(other)))

  it.live("names the package to install when the recogniser is missing", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ PocketsphinxPath: "/nowhere/pocketsphinx" })
      assert.match(error.message, /missing.*\/nowhere\/pocketsphinx.*apt-get install pocketsphinx/u)
    })
  )

  it.live("names the package to install when the recogniser's model is missing", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ PocketsphinxModelFolder: "/nowhere" })
      assert.match(error.message, /missing.*\/nowhere\/cmudict-en-us\.dict.*apt-get install pocketsphinx-en-us/u)
    })
  )

  it.live("is unavailable when the recogniser fails", () =>
    Effect.gen(function* () {
      const error = yield* unavailable({ PocketsphinxPath: "/bin/false" })
      assert.match(error.message, /phrase check is not available \(failed\)/u)
    })
  )

  it.live("leaves no process and no file behind when the caller leaves", () =>
    Effect.gen(function* () {
      // Ours among those of everybody on the machine.
      const sleeper = `sleep 73.${process.pid}s`
      const hanging = join(yield* folder, "recogniser")
      writeFileSync(hanging, `#!/bin/sh\n${sleeper} & ${sleeper}\n`)
      chmodSync(hanging, 0o755)
      const folders = yield* consentFolders
      const sleepers = () => runningWith(sleeper).length
      yield* Effect.gen(function* () {
        const verifying = yield* Effect.forkChild(verify(recordings.phrase))
        yield* eventually(() => sleepers(), { is: 2 })
        assert.strictEqual(folders().length, 1)
        yield* Fiber.interrupt(verifying)
        yield* eventually(() => sleepers(), { is: 0 })
        assert.deepStrictEqual(folders(), [])
      }).pipe(Effect.provide(verification({ PocketsphinxPath: hanging })))
    }).pipe(Effect.scoped)
  )
})
