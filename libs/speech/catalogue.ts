/**
 * The catalogue of a fleet: the voices of its models, which come first because they are understood best, and those of
 * the engines that every synthesizer has. A voice of a model takes the place of a built-in one with the same id.
 */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { Effect } from "effect"
import type { ConfigurationFile, VoiceModel } from "#contracts"
import { Configuration, Environment } from "#runtime"
import { modelEngine } from "./engine/models/ModelPool.ts"
import { onnxRuntimeFile } from "./engine/onnx/runtime-file.ts"
import { espeakLanguages, modelsOf, type SharedVoice, sharedVoices } from "./voices.ts"

export interface Catalogue {
  /** The best understood voices first. */
  readonly voices: ReadonlyArray<SharedVoice>
  readonly byId: (id: string) => SharedVoice | undefined
}

export const catalogueOf = (models: ReadonlyArray<VoiceModel>): Catalogue => {
  const ofModels = models.flatMap((model) => model.Voices.map((voice) => voiceOf(model, voice)))
  const taken = new Set(ofModels.map(({ id }) => id))
  const voices = [...ofModels, ...sharedVoices.filter(({ id }) => !taken.has(id))]
  const byId = new Map(voices.map((voice) => [voice.id, voice]))
  return { voices, byId: (id) => byId.get(id) }
}

const voiceOf = (model: VoiceModel, voice: VoiceModel["Voices"][number]): SharedVoice => ({
  id: voice.Id,
  displayName: voice.Name ?? voice.Id,
  gender: voice.Gender,
  locale: voice.Locale,
  tags: [...voice.Tags, "neural"],
  models: modelsOf(voice.Locale, []),
  engine: {
    engine: modelEngine(model.Id),
    name: voice.Speaker,
    language: languageOf(voice.Locale),
    ratePercent: 100,
    pitchPercent: 100,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: voice.GainDb
  },
  ...(voice.Preview === undefined ? {} : { preview: voice.Preview })
})

/** espeak-ng's name for a locale: of those beyond its table, the language alone. */
const languageOf = (locale: string) => espeakLanguages[locale] ?? locale.replace(/-.*$/u, "")

/** The folder that `./starling` and the speech image put the voices into that come with Starling. */
const bundledVariable = "STARLING_VOICES"

/** The voices that come with Starling, where they could be had. */
const bundledModels = (folder: string): ReadonlyArray<VoiceModel> => {
  const hibari = resolve(folder, "hibari-0.2.1")
  const isThere = folder !== "" && existsSync(join(hibari, "hibari.onnx")) && onnxRuntimeFile() !== undefined
  return isThere ? [heart(hibari)] : []
}

const heart = (folder: string): VoiceModel => ({
  Id: "hibari",
  Folder: folder,
  Threads: 1,
  Voices: [
    {
      Id: "heart",
      Name: "Heart",
      Locale: "en-US",
      Gender: "female",
      Speaker: "0",
      GainDb: 7.4,
      Tags: ["warm", "natural"]
    }
  ]
})

interface FleetModel {
  readonly model: VoiceModel
  /** It came with Starling, and is not the operator's: a fleet speaks without it too. */
  readonly isBundled: boolean
}

/** All models of the fleet: the operator's first. */
export const fleetModels = (
  { Models }: ConfigurationFile["Voices"],
  environment: Readonly<Record<string, string | undefined>>
): ReadonlyArray<FleetModel> => {
  const own = new Set(Models.map(({ Id }) => Id))
  const bundled = bundledModels(environment[bundledVariable] ?? "").filter(({ Id }) => !own.has(Id))
  return [
    ...Models.map((model) => ({ model, isBundled: false })),
    ...bundled.map((model) => ({ model, isBundled: true }))
  ]
}

/** By the section of the configuration, which stays the same object while a process runs, and the folder. */
const made = new WeakMap<object, Map<string | undefined, Catalogue>>()

/** The catalogue of the running fleet. */
export const fleetCatalogue = Effect.gen(function* () {
  const { Voices } = yield* Configuration
  const environment = yield* Environment
  const byFolder = made.get(Voices) ?? new Map<string | undefined, Catalogue>()
  made.set(Voices, byFolder)
  const folder = environment[bundledVariable]
  const known = byFolder.get(folder) ?? catalogueOf(fleetModels(Voices, environment).map(({ model }) => model))
  byFolder.set(folder, known)
  return known
})
