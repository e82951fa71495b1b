/** The voices that are heard as a person, judged by recognisers that do not know the text. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result, Stream } from "effect"
import { deafness, errorsBetween, type Hearing, hearingHz, openHearing, phonemesIn, wordsIn } from "#dev/hearing"
import { decodeConfiguration } from "#configuration"
import { concatPcm, resample } from "#speech/audio"
import { catalogueOf, embedded, fleetModels, openModelPool } from "#speech"
import { folder, metrics } from "../../support/recordings.ts"

// Together shorter than what is heard at once.
const text =
  "In the evening it began to rain, and nobody on the bridge had brought an umbrella. " +
  "I would like to speak with the manager about the money that was paid last week. " +
  "Your parcel leaves our warehouse tomorrow morning; please keep the receipt until it arrives. " +
  "Turn left after the second traffic light, cross the river, and park behind the old station."

// In percent, for each about twice what is heard wrongly today: of 62 words, a recogniser with a small ear mistakes some.
const limits: ReadonlyArray<readonly [id: string, words: number, phonemes: number]> = [
  ["heart", 4, 10],
  ["selma", 8, 15],
  ["roger", 8, 15],
  ["alan", 8, 20],
  ["kal", 8, 30]
]

const { Voices } = Result.getOrThrow(decodeConfiguration({}))
const models = fleetModels(Voices, process.env).map(({ model }) => model)
const { byId } = catalogueOf(models)

const spokenBy = Effect.fnUntraced(function* (id: string) {
  const voice = byId(id)
  if (voice === undefined) return yield* Effect.die(`there is no ${id}`)
  const model = models.find(({ Id }) => voice.engine.engine === `model-${Id}`)
  const engine =
    model === undefined
      ? yield* embedded.flite.open()
      : yield* openModelPool({ model, home: yield* folder, bytesMax: Number.POSITIVE_INFINITY })
  const piece = { text, ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
  const frames = yield* Stream.runCollect(engine.synthesize({ voice: voice.engine, pieces: [piece] }))
  return resample(concatPcm(frames.map(({ pcm }) => pcm)), 24_000, hearingHz)
})

class Judges extends Context.Service<Judges, Hearing>()("starling/test/Judges") {
  static readonly layer = Layer.effect(
    Judges,
    Effect.acquireRelease(Effect.sync(openHearing), ({ close }) => Effect.sync(close))
  )
}

const percent = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>) =>
  (100 * errorsBetween(said, heard)) / said.length

describe.skipIf(deafness !== undefined)(`understood${deafness === undefined ? "" : `: skipped, ${deafness}`}`, () => {
  layer(Layer.merge(Judges.layer, metrics), { excludeTestServices: true })((it) => {
    for (const [id, words, phonemes] of limits) {
      it.effect.skipIf(byId(id) === undefined)(`${id} is heard with at most ${words} % of the words wrong`, () =>
        Effect.gen(function* () {
          const pcm = yield* spokenBy(id)
          const judges = yield* Judges
          const heard = yield* Effect.promise(() => judges.hear({ pcm, language: "en", text }))
          const expected = heard.expected.map(([, symbols]) => symbols).join("")
          const sounds = heard.phonemes.map(([symbol]) => symbol).join("")
          assert.isAtMost(percent(wordsIn(text, "en"), wordsIn(heard.words, "en")), words)
          assert.isAtMost(percent(phonemesIn(expected), phonemesIn(sounds)), phonemes)
        }).pipe(Effect.scoped)
      )
    }
  })
})
