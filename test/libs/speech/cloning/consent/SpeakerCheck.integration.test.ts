/** The built-in check and one by a model, over real recordings. */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Scope } from "effect"
import { SpeakerCheck, speakerCheckLayer } from "#speech/cloning"
import { folder } from "../../../../support/recordings.ts"
import { speakerModel } from "../../../../support/speaker-model.ts"
import { readRecordings, type Recordings, settings, verification, verify } from "./recordings.ts"

let recordings: Recordings
const scope = Scope.makeUnsafe()

beforeAll(async () => {
  recordings = await Effect.runPromise(Scope.provide(readRecordings, scope))
})
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

describe("the built-in speaker check", () => {
  it.live("leaves the event loop free while it computes", () =>
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

  it.live("answers many calls at once, each its own", () =>
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
      const SpeakerModelFolder = join(at, "model")
      mkdirSync(SpeakerModelFolder)
      writeFileSync(join(SpeakerModelFolder, "model.onnx"), content)
      return { ...settings, SpeakerModelFolder, SpeakerModelDistanceMax: distanceMax }
    })

  it.live("distinguishes the speaker of the sample from a stranger, and calls itself strong", () =>
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

  it.live("is evidence of a verification", () =>
    Effect.gen(function* () {
      const model = yield* withModel(speakerModel(), 1)
      const evidence = yield* Effect.provide(verify(recordings.phrase, recordings.sample), verification(model))
      assert.strictEqual(evidence.speakerMethod, "speaker-embedding")
      assert.strictEqual(evidence.speakerStrength, "strong")
      assert.strictEqual(evidence.speakerThreshold, 1)
    }).pipe(Effect.scoped)
  )

  it.live.each([
    ["no model at all", "this is a letter"],
    ["nothing", ""],
    ["a model for something else", speakerModel({ framework: "cakes" })],
    ["a model without its sample rate", speakerModel({ sample_rate: "often" })]
  ] as const)("stops the start with its reason when the file is %s", ([, content]) =>
    Effect.gen(function* () {
      const model = yield* withModel(content)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(speakerCheckLayer(model))))
      assert.strictEqual(error._tag, "SpeakerModelUnusable")
      assert.include(error.message, `VoiceCloning.SpeakerModelFolder ${model.SpeakerModelFolder} cannot be used: `)
      assert.isAbove(error.detail.length, 20)
    }).pipe(Effect.scoped)
  )

  it.live("stops the start when the folder does not exist", () =>
    Effect.gen(function* () {
      const layer = speakerCheckLayer({ ...settings, SpeakerModelFolder: "/nowhere" })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(layer)))
      assert.match(error.message, /SpeakerModelFolder \/nowhere cannot be used/u)
    })
  )
})
