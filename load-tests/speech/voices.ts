/**
 * The English voices of the catalogue, each with the openings of twenty books: how many words a recogniser that does not
 * know the texts hears wrongly, what a second of speech costs, and how far the word starts are from what is heard.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Result, Stream } from "effect"
import { concatPcm, pcmToBytes, resample } from "#speech/audio"
import { type ConfigurationFile, decodeConfiguration } from "#configuration"
import { Metrics, Role } from "#runtime"
import { catalogueOf, embedded, fleetModels, openModelPool, type SharedVoice, type SpeechEngine } from "#speech"
import { atMost, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { openings } from "./openings.ts"
import { modelSilentMs, onsetsOf, startErrors } from "./onsets.ts"
import { spaced } from "./texts.ts"

const hz = 24_000
const recogniserHz = 16_000
const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-synthesizer")))
// Of espeak-ng's English voices one stands for all.
const left: ReadonlyArray<string> = ["marcus", "nora", "claire", "oliver", "arthur", "emma"]

type Settings = ConfigurationFile["VoiceCloning"]

/** The settings by the environment, so that models of one's own are measured too: `VOICES_MODELS` as a list of JSON. */
const settings = () => {
  const models = process.env["VOICES_MODELS"]
  const Voices = models === undefined ? {} : { Models: JSON.parse(models) as unknown }
  return Result.getOrThrowWith(decodeConfiguration({ Voices }), (faults) => new Error(JSON.stringify(faults)))
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

const heardIn = (folder: string, pcm: Int16Array, { PocketsphinxPath, PocketsphinxModelFolder }: Settings) => {
  writeFileSync(join(folder, "spoken.raw"), pcmToBytes(resample(pcm, hz, recogniserHz)))
  writeFileSync(join(folder, "recordings"), "spoken\n")
  const parameters = {
    hmm: join(PocketsphinxModelFolder, "en-us"),
    lm: join(PocketsphinxModelFolder, "en-us.lm.bin"),
    dict: join(PocketsphinxModelFolder, "cmudict-en-us.dict"),
    ctl: join(folder, "recordings"),
    cepdir: folder,
    cepext: ".raw",
    adcin: "yes",
    adchdr: "0",
    samprate: `${recogniserHz}`,
    hyp: join(folder, "heard"),
    logfn: "/dev/null"
  }
  const given = Object.entries(parameters).flatMap(([name, value]) => [`-${name}`, value])
  execFileSync(PocketsphinxPath, given, { stdio: ["ignore", "ignore", "ignore"] })
  return readFileSync(join(folder, "heard"), "utf8").replace(/ \([^()]*\)\s*$/u, "")
}

/** Two spellings of what sounds alike, the recogniser's second; as the rules of the field's own comparisons have it. */
const spellings: ReadonlyArray<readonly [RegExp, string]> = [
  [/\bneighbour/gu, "neighbor"],
  [/\btraveller/gu, "traveler"],
  [/\bodour/gu, "odor"],
  [/\b(would|could|should|might|must)'ve\b/gu, "$1 have"]
]

const wordsIn = (text: string) =>
  spellings.reduce((spelt, [from, to]) => spelt.replaceAll(from, to), text.toLowerCase()).match(/[a-z']+/gu) ?? []

/** Words that were lost, added or heard as others. */
const wordErrors = (said: ReadonlyArray<string>, heard: ReadonlyArray<string>) => {
  let row = Array.from({ length: heard.length + 1 }, (_, index) => index)
  for (const [index, word] of said.entries()) {
    const next = [index + 1]
    for (const [at, other] of heard.entries()) {
      const changed = (row[at] ?? 0) + (word === other ? 0 : 1)
      next.push(Math.min((next[at] ?? 0) + 1, (row[at + 1] ?? 0) + 1, changed))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

interface Measured {
  readonly engine: SpeechEngine
  readonly voice: SharedVoice
  readonly isFirst: boolean
}

const isOfModel = ({ engine: { engine } }: SharedVoice) => engine.startsWith("model-")

/** Those that a fleet with this environment speaks by models. */
export const englishModelVoices = (): ReadonlyArray<SharedVoice> => {
  const models = fleetModels(settings().Voices, process.env).map(({ model }) => model)
  return catalogueOf(models).voices.filter((voice) => voice.locale.startsWith("en") && isOfModel(voice))
}

const ofVoice = Effect.fnUntraced(function* ({ engine, voice, isFirst }: Measured, folder: string, own: Settings) {
  let [wrong, words, seconds, cpuSeconds] = [0, 0, 0, 0]
  for (const text of openings) {
    const made = yield* spoken(engine, voice.engine, text)
    const said = wordsIn(text)
    wrong += wordErrors(said, wordsIn(heardIn(folder, made.pcm, own)))
    words += said.length
    seconds += made.pcm.length / hz
    cpuSeconds += made.cpuSeconds
  }
  const errors: Array<number> = []
  for (const text of spaced.map((input) => input.replaceAll(/<[^>]*>/gu, ", "))) {
    const { pcm, startsMs } = yield* spoken(engine, voice.engine, text)
    errors.push(...startErrors(onsetsOf(pcm, isOfModel(voice) ? modelSilentMs : undefined), startsMs))
  }
  const figure = figuresOf(voice.id)
  const wrongPercent = (100 * wrong) / words
  return [
    // What a listener may expect of the voice that speaks without being asked for.
    figure("words heard wrongly", wrongPercent, "%", isFirst ? atMost(12, wrongPercent, "%") : {}),
    figure("processor seconds for a second of speech", cpuSeconds / seconds, ""),
    figure("start of words, p50", percentile(errors, 0.5), "ms"),
    figure("start of words, p90", percentile(errors, 0.9), "ms")
  ]
})

export const voices = (): Promise<Findings> =>
  Effect.gen(function* () {
    const { Voices, VoiceCloning } = settings()
    const models = fleetModels(Voices, process.env).map(({ model }) => model)
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-voices-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    const engines = new Map<string, SpeechEngine>()
    engines.set("espeak", yield* embedded.espeak.open())
    engines.set("flite", yield* embedded.flite.open())
    for (const model of models) {
      const engine = yield* openModelPool({ model, home: folder, bytesMax: Number.POSITIVE_INFINITY })
      engines.set(engine.name, engine)
    }
    const english = catalogueOf(models).voices.filter(({ id, locale }) => locale.startsWith("en") && !left.includes(id))
    const figures: Array<Figure> = []
    for (const [at, voice] of english.entries()) {
      const engine = engines.get(voice.engine.engine)
      if (engine === undefined) continue
      figures.push(...(yield* ofVoice({ engine, voice, isFirst: at === 0 }, folder, VoiceCloning)))
    }
    return { figures, series: [] }
  }).pipe(Effect.scoped, Effect.provide(metrics), Effect.runPromise)
