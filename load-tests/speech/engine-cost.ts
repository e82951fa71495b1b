/**
 * The engines of English voices alone, in this process: what a second of speech costs, and how far the word starts that
 * they tell are from where sound begins after a pause.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Result, Stream } from "effect"
import { concatPcm } from "#speech/audio"
import { decodeConfiguration } from "#configuration"
import { Metrics, Role } from "#runtime"
import { catalogueOf, embedded, fleetModels, openModelPool, type SharedVoice, type SpeechEngine } from "#speech"
import { type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { modelSilentMs, onsetsOf, startErrors } from "./onsets.ts"
import { paragraphs } from "./read-aloud.ts"
import { spaced } from "./texts.ts"

const hz = 24_000
const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-synthesizer")))
// Of espeak-ng's English voices one stands for all.
const left: ReadonlyArray<string> = ["marcus", "nora", "claire", "oliver", "arthur", "emma"]
const read = paragraphs("en").slice(0, 8)

/** By the environment, so that models of one's own are measured too: `VOICES_MODELS` as a list of JSON. */
const modelsHere = () => {
  const models = process.env["VOICES_MODELS"]
  const Voices = models === undefined ? {} : { Models: JSON.parse(models) as unknown }
  const decoded = Result.getOrThrowWith(decodeConfiguration({ Voices }), (faults) => new Error(JSON.stringify(faults)))
  return fleetModels(decoded.Voices, process.env).map(({ model }) => model)
}

const spoken = Effect.fnUntraced(function* (engine: SpeechEngine, voice: SharedVoice["engine"], text: string) {
  const begun = process.cpuUsage()
  const frames = yield* Stream.runCollect(engine.synthesize({ voice, pieces: [{ text, ...plain }] }))
  const { user, system } = process.cpuUsage(begun)
  return {
    pcm: concatPcm(frames.map(({ pcm }) => pcm)),
    startsMs: frames.flatMap(({ words }) => words.map(({ sample }) => (sample * 1_000) / hz)),
    cpuSeconds: (user + system) / 1e6
  }
})

const isOfModel = ({ engine: { engine } }: SharedVoice) => engine.startsWith("model-")
const isEnglish = ({ locale }: SharedVoice) => locale.startsWith("en")

/** Those that a fleet with this environment speaks by models. */
export const englishModelVoices = (): ReadonlyArray<SharedVoice> =>
  catalogueOf(modelsHere()).voices.filter((voice) => isEnglish(voice) && isOfModel(voice))

const ofVoice = Effect.fnUntraced(function* (engine: SpeechEngine, voice: SharedVoice) {
  let [seconds, cpuSeconds] = [0, 0]
  for (const text of read) {
    const made = yield* spoken(engine, voice.engine, text)
    seconds += made.pcm.length / hz
    cpuSeconds += made.cpuSeconds
  }
  const errors: Array<number> = []
  for (const text of spaced.map((input) => input.replaceAll(/<[^>]*>/gu, ", "))) {
    const { pcm, startsMs } = yield* spoken(engine, voice.engine, text)
    errors.push(...startErrors(onsetsOf(pcm, isOfModel(voice) ? modelSilentMs : undefined), startsMs))
  }
  const figure = figuresOf(`engine of ${voice.id}`)
  return [
    figure("processor seconds for a second of speech", cpuSeconds / seconds, ""),
    figure("start of words, p50", percentile(errors, 0.5), "ms"),
    figure("start of words, p90", percentile(errors, 0.9), "ms")
  ]
})

export const engineCost = (): Promise<Findings> =>
  Effect.gen(function* () {
    const models = modelsHere()
    const home = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-voices-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const engines = new Map<string, SpeechEngine>()
    engines.set("espeak", yield* embedded.espeak.open())
    engines.set("flite", yield* embedded.flite.open())
    for (const model of models) {
      const engine = yield* openModelPool({ model, home, bytesMax: Number.POSITIVE_INFINITY })
      engines.set(engine.name, engine)
    }
    const figures: Array<Figure> = []
    for (const voice of catalogueOf(models).voices.filter((each) => isEnglish(each) && !left.includes(each.id))) {
      const engine = engines.get(voice.engine.engine)
      if (engine !== undefined) figures.push(...(yield* ofVoice(engine, voice)))
    }
    return { figures, series: [] }
  }).pipe(Effect.scoped, Effect.provide(metrics), Effect.runPromise)
