/**
 * The catalogue of a fleet: the voices of its operator's programs and of its models, which come first because they are
 * the most intelligible, and those of the engines that every synthesizer has. They replace built-in ones with the same
 * id.
 */
import { existsSync } from "node:fs"
import { join, resolve } from "node:path"
import { Context, Effect } from "effect"
import type { EngineVoice, VoiceModel, VoiceProcess, Voices } from "#speech/contract"
import { Environment } from "#runtime"
import { modelEngine } from "./engine/models/ModelPool.ts"
import { onnxRuntimeFile } from "./engine/onnx/runtime-file.ts"
import { processEngine } from "./engine/process/ProcessPool.ts"
import { espeakLanguages, modelsOf, type SharedVoice, sharedVoices } from "./voices.ts"

export interface Catalogue {
  /** The most intelligible voices first. */
  readonly voices: ReadonlyArray<SharedVoice>
  readonly byId: (id: string) => SharedVoice | undefined
}

/** The catalogue as it can be heard now: without the voices whose engines cannot speak. */
export interface UsableCatalogue extends Catalogue {
  /** Also knows the other voices, so that a caller learns why they do not speak. */
  readonly byId: Catalogue["byId"]
  readonly isSilent: (voice: Pick<SharedVoice, "engine">) => boolean
}

/** The engines that no synthesizer can speak with at present; none are known where their reports are not followed. */
export const SilentEngines = Context.Reference<() => ReadonlySet<string>>("starling/speech/SilentEngines", {
  defaultValue: () => () => none
})
const none: ReadonlySet<string> = new Set()

export const catalogueOf = (
  models: ReadonlyArray<VoiceModel>,
  processes: ReadonlyArray<VoiceProcess> = []
): Catalogue => {
  const own = [
    ...processes.flatMap(({ Id, RealTime, Voices }) =>
      Voices.map((voice) => voiceOf(voice, RealTime, { engine: processEngine(Id), locale: voice.Locale }))
    ),
    ...models.flatMap(({ Id, RealTime, Voices }) =>
      Voices.map((voice) => voiceOf(voice, RealTime, { engine: modelEngine(Id) }))
    )
  ]
  const taken = new Set(own.map(({ id }) => id))
  const voices = [...own, ...sharedVoices.filter(({ id }) => !taken.has(id))]
  const byId = new Map(voices.map((voice) => [voice.id, voice]))
  return { voices, byId: (id) => byId.get(id) }
}

type OwnEngine =
  | Pick<Extract<EngineVoice, { readonly engine: `model-${string}` }>, "engine">
  | Pick<Extract<EngineVoice, { readonly engine: `process-${string}` }>, "engine" | "locale">

const voiceOf = (voice: VoiceModel["Voices"][number], isRealTime: boolean, engine: OwnEngine): SharedVoice => ({
  id: voice.Id,
  displayName: voice.Name ?? voice.Id,
  gender: voice.Gender,
  locale: voice.Locale,
  tags: [...voice.Tags, "neural"],
  models: modelsOf(voice.Locale, []),
  engine: {
    ...engine,
    name: voice.Speaker,
    language: languageOf(voice.Locale),
    ratePercent: 100,
    pitchPercent: 100,
    rangePercent: 100,
    formantPercent: 100,
    gainDb: voice.GainDb
  },
  ...(voice.Quality === undefined ? {} : { quality: voice.Quality }),
  ...(isRealTime ? {} : { isRealTime }),
  ...(voice.Preview === undefined ? {} : { preview: voice.Preview })
})

/** espeak-ng's name for a locale: beyond its table, the language alone. */
const languageOf = (locale: string) => espeakLanguages[locale] ?? locale.replace(/-.*$/su, "")

/** The folder into which `./starling` and the speech image put voices that are no operator's own. */
const bundledVariable = "STARLING_VOICES"

/** The voices that ship with Starling, and those that `./starling voices add` fetched, where they are available. */
const bundledModels = (folder: string): ReadonlyArray<VoiceModel> =>
  folder === "" || onnxRuntimeFile() === undefined
    ? []
    : [hibari(resolve(folder, "hibari-0.2.1")), kokoro(resolve(folder, "kokoro-1.0"))].filter(({ Folder, Id }) =>
        existsSync(join(Folder, `${Id}.onnx`))
      )

const hibari = (folder: string): VoiceModel => ({
  Id: "hibari",
  Folder: folder,
  Threads: 1,
  RealTime: true,
  Voices: [
    {
      Id: "heart",
      Name: "Heart",
      Locale: "en-US",
      Gender: "female",
      Speaker: "0",
      GainDb: 7.4,
      Tags: ["warm"],
      Quality: "natural"
    }
  ]
})

/** The second letter of a style is its gender. */
const kokoroVoices = [
  ["bella", "en-US", "af_bella", 3.8],
  ["michael", "en-US", "am_michael", 5.7],
  ["isabella", "en-GB", "bf_isabella", -0.5],
  ["george", "en-GB", "bm_george", 3.4],
  ["dora", "es-ES", "ef_dora", 5.4],
  ["alex", "es-ES", "em_alex", 4.9],
  ["siwis", "fr-FR", "ff_siwis", 1.1],
  ["sara", "it-IT", "if_sara", -4.1],
  ["nicola", "it-IT", "im_nicola", 1.3],
  ["paula", "pt-BR", "pf_dora", 5.5],
  ["paulo", "pt-BR", "pm_alex", 5.1]
] as const

const kokoro = (folder: string): VoiceModel => ({
  Id: "kokoro",
  Folder: folder,
  Threads: 2,
  RealTime: false,
  Voices: kokoroVoices.map(([Id, Locale, Speaker, GainDb]) => ({
    Id,
    Name: `${Id.charAt(0).toUpperCase()}${Id.slice(1)}`,
    Locale,
    Gender: Speaker.charAt(1) === "f" ? "female" : "male",
    Speaker,
    GainDb,
    Tags: []
  }))
})

interface FleetModel {
  readonly model: VoiceModel
  /** It comes with Starling, and is not the operator's: a fleet also speaks without it. */
  readonly isBundled: boolean
}

/** All models of the fleet: the operator's first, whose voices replace others with the same id. */
export const fleetModels = (
  { Models, Processes }: Voices,
  environment: Readonly<Record<string, string | undefined>>
): ReadonlyArray<FleetModel> => {
  const own = new Set(Models.map(({ Id }) => Id))
  const taken = new Set([...Models, ...Processes].flatMap((each) => each.Voices.map(({ Id }) => Id)))
  const bundled = bundledModels(environment[bundledVariable] ?? "")
    .map((model) => ({ ...model, Voices: model.Voices.filter(({ Id }) => !taken.has(Id)) }))
    .filter(({ Id, Voices }) => !own.has(Id) && Voices.length > 0)
  return [
    ...Models.map((model) => ({ model, isBundled: false })),
    ...bundled.map((model) => ({ model, isBundled: true }))
  ]
}

/** By the section of the configuration, which stays the same object while a process runs, and the folder. */
const catalogues = new WeakMap<object, Map<string | undefined, Catalogue>>()

/** The catalogue of the running fleet: a voice that cannot be heard now is not listed, so another one is the first. */
export const fleetCatalogue = Effect.fnUntraced(function* (voices: Voices) {
  const environment = yield* Environment
  const byFolder = catalogues.get(voices) ?? new Map<string | undefined, Catalogue>()
  catalogues.set(voices, byFolder)
  const folder = environment[bundledVariable]
  const made = () =>
    catalogueOf(
      fleetModels(voices, environment).map(({ model }) => model),
      voices.Processes
    )
  const known = byFolder.get(folder) ?? made()
  byFolder.set(folder, known)
  return usableOf(known, (yield* SilentEngines)())
})

export const usableOf = ({ voices, byId }: Catalogue, silent: ReadonlySet<string>): UsableCatalogue => {
  const isSilent: UsableCatalogue["isSilent"] = ({ engine }) => silent.has(engine.engine)
  return { voices: silent.size === 0 ? voices : voices.filter((voice) => !isSilent(voice)), byId, isSilent }
}
