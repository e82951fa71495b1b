import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope, Stream } from "effect"
import type { EngineVoice } from "#speech/contract"
import type { Metrics } from "#runtime"
import { zeroShotVoice } from "../../../../libs/speech/cloning/cloned-voice.ts"
import { EngineFailed, ZeroShotModelUnusable } from "../../../../libs/speech/engine/Engine.ts"
import { openZeroShotPool } from "../../../../libs/speech/engine/zero-shot/ZeroShotPool.ts"
import { samplesPerToken, tinyVoiceHz, writeTinyVits } from "../../../support/tiny-voices.ts"
import { heard, jobOf, metrics, piece, voiceOf } from "./jobs.ts"

const scoped = <A, E>(effect: Effect.Effect<A, E, Scope.Scope | Metrics>) =>
  effect.pipe(Effect.scoped, Effect.provide(metrics))

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-test-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)
const tinyFolder = Effect.tap(folder, (path) => Effect.sync(() => writeTinyVits(path)))
const traits = {
  medianPitchHz: 120,
  pitchRangeSemitones: 4,
  syllablesPerSecond: 5,
  formantPercent: 100,
  speechLevelDbfs: -19
}
const voice: EngineVoice = zeroShotVoice(traits, { object: "w.v.reference", text: "one two" })
const reference = () => Effect.succeed(new Int16Array(tinyVoiceHz))
const opened = Effect.flatMap(tinyFolder, (modelFolder) => openZeroShotPool({ modelFolder, reference }))

/** Words and the spaces behind them are a token each. The end of the sentence is a pause: 320 ms, of which 30 ms are the next one's. */
const seconds = (tokens: number) => (tokens * samplesPerToken) / tinyVoiceHz + 0.29

describe("a zero-shot engine", () => {
  it.live("speaks a text with the folder's model, at the fleet's rate", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened

        const { pcm, words } = yield* heard(engine, jobOf(voice, piece("One two three. Four five!")))

        assert.strictEqual(engine.name, "zero-shot")
        assert.closeTo(pcm.length / 24_000, seconds(13), 0.001)
        assert.isAbove(Math.max(...pcm), 10_000)
        // It reports no words: the marks must do without.
        assert.deepStrictEqual(words, [])
      })
    )
  )
  it.live("gives each sentence when it is made", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened

        const frames = yield* Stream.runCollect(
          engine.synthesize(jobOf(voice, piece("One two three. Four five! Six seven.")))
        )

        assert.isAtLeast(frames.length, 3)
      })
    )
  )
  it.live("has the voice's loudness, and speaks pieces of one style in one go", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened
        const whole = yield* heard(engine, jobOf(voice, piece("One two three.")))
        const cut = yield* heard(engine, jobOf(voice, piece("One "), piece("two "), piece("three.")))
        const soft = yield* heard(engine, jobOf({ ...voice, gainDb: -6 }, piece("One two three.")))

        assert.deepStrictEqual(cut.pcm, whole.pcm)
        assert.closeTo(Math.max(...soft.pcm) / Math.max(...whole.pcm), 0.5, 0.02)
      })
    )
  )
  it.live.each(["", "  ", "... !?", "\u0000\u0001"])("makes no sound for a text without words (%j)", (text) =>
    scoped(
      Effect.gen(function* () {
        const { pcm } = yield* heard(yield* opened, jobOf(voice, piece(text)))

        assert.strictEqual(pcm.length, 0)
      })
    )
  )
  it.live("stops when its reader leaves, and speaks again afterwards", () =>
    scoped(
      Effect.gen(function* () {
        const engine = yield* opened
        const sentence = "One two three four five six seven eight nine ten. "

        const long = jobOf(voice, piece(sentence.repeat(200)))
        const timed = <A, E, R>(work: Effect.Effect<A, E, R>) =>
          Effect.suspend(() => {
            const begun = performance.now()
            return Effect.map(work, (value) => ({ value, ms: performance.now() - begun }))
          })
        const whole = yield* timed(Stream.runDrain(engine.synthesize(long)))

        const stopped = yield* timed(
          Effect.andThen(
            Stream.runDrain(Stream.take(engine.synthesize(long), 1)),
            heard(engine, jobOf(voice, piece("One.")))
          )
        )

        assert.isBelow(stopped.ms, whole.ms / 2)
        assert.closeTo(stopped.value.pcm.length / 24_000, seconds(3), 0.001)
      })
    )
  )
  it.live("fails a job with a missing recording, or one of another engine", () =>
    scoped(
      Effect.gen(function* () {
        const modelFolder = yield* tinyFolder
        const engine = yield* openZeroShotPool({ modelFolder, reference: () => Effect.fail("its recording is gone") })
        for (const one of [voice, voiceOf("espeak", "en-us")]) {
          const error = yield* Effect.flip(heard(engine, jobOf(one, piece("One."))))
          assert.instanceOf(error, EngineFailed)
          assert.strictEqual(error.reason, "voice")
        }
      })
    )
  )
})

describe("a configured folder of a zero-shot model", () => {
  const refused = (modelFolder: string) => Effect.flip(openZeroShotPool({ modelFolder, reference }))
  it.live("that is missing or empty stops the start with its reason", () =>
    scoped(
      Effect.gen(function* () {
        const empty = yield* folder
        for (const [path, reason] of [
          [join(empty, "nowhere"), /no such folder/u],
          [empty, /no tokens\.txt/u]
        ] as const) {
          const error = yield* refused(path)
          assert.instanceOf(error, ZeroShotModelUnusable)
          assert.match(error.message, reason)
          assert.include(error.message, `VoiceCloning.ZeroShotModelFolder ${path}`)
        }
      })
    )
  )
  it.live("with an invalid model file stops the start, and does not crash the process", () =>
    scoped(
      Effect.gen(function* () {
        const path = yield* tinyFolder
        writeFileSync(join(path, "model.onnx"), "this is no model")

        const error = yield* refused(path)

        assert.instanceOf(error, ZeroShotModelUnusable)
        assert.notStrictEqual(error.detail, "")
      })
    )
  )
  it.live("with the parts of a ZipVoice model is recognised, and its broken parts are reported", () =>
    scoped(
      Effect.gen(function* () {
        const path = yield* folder
        for (const name of ["encoder.int8.onnx", "decoder.int8.onnx", "vocos_24khz.onnx"]) {
          writeFileSync(join(path, name), "this is no model")
        }
        writeFileSync(join(path, "tokens.txt"), "a 1\n")
        mkdirSync(join(path, "espeak-ng-data"))

        const error = yield* refused(path)

        assert.instanceOf(error, ZeroShotModelUnusable)
      })
    )
  )
})
