/**
 * The model in a folder, recognized by its files and by the names of its inputs: which engine runs it, and with what.
 * The folder is read and never written; what a Piper voice lacks for sherpa-onnx is put beside a copy of it.
 */
import { createHash, randomUUID } from "node:crypto"
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { basename, join } from "node:path"
import { withoutByteOrderMark } from "#base"
import type { AcousticFiles } from "../onnx/acoustic-models.ts"
import { contentsOf, metadataBytes, type ModelContents } from "../onnx/model-file.ts"
import type { ModelFiles } from "../sherpa/tts.ts"

/** Says what is wrong with a folder, for the operator. */
export class FolderFault extends Error {}

export type FoundModel = { readonly bytes: number } & (
  | { readonly runs: "onnx"; readonly files: Omit<AcousticFiles, "threads"> }
  | { readonly runs: "sherpa"; readonly files: ModelFiles }
)

interface FolderOptions {
  readonly folder: string
  /** Where prepared copies are kept. */
  readonly preparedFolder: string
}

export const readModelFolder = ({ folder, preparedFolder }: FolderOptions): FoundModel => {
  const names = namesIn(folder)
  const { model, vocoder } = modelIn(names)
  const path = join(folder, model)
  const contents = contentsOf(readFileSync(path))
  if (contents === undefined) throw new FolderFault(`${model} is no ONNX model, or it is cut off`)
  const bytes = [model, vocoder, "voices.bin"]
    .filter((name) => name !== undefined && names.includes(name))
    .reduce((sum, name) => sum + statSync(join(folder, name ?? "")).size, 0)
  const has = (...inputs: ReadonlyArray<string>) => inputs.every((input) => contents.inputs.includes(input))
  const place: ModelPath = { folder, names, path, model, contents }

  if (has("ids", "speed")) return { bytes, runs: "onnx", files: { kind: "hibari", model: path, styles: {} } }
  if (has("style", "speed") && isKitten(contents)) return { bytes, runs: "sherpa", files: kittenFiles(place) }
  if (has("style", "speed")) {
    return { bytes, runs: "onnx", files: { kind: "kokoro", model: path, styles: stylesIn(folder, names) } }
  }
  if (has("input", "input_lengths", "scales")) {
    return { bytes, runs: "sherpa", files: piperFiles(place, preparedFolder) }
  }
  if (vocoder !== undefined) return { bytes, runs: "sherpa", files: matchaFiles(place, vocoder) }
  return { bytes, runs: "sherpa", files: { vits: { model: path, ...textFiles(place) } } }
}

interface ModelPath {
  readonly folder: string
  readonly names: ReadonlyArray<string>
  readonly path: string
  readonly model: string
  readonly contents: ModelContents
}

const namesIn = (folder: string) => {
  try {
    return readdirSync(folder)
  } catch {
    throw new FolderFault("there is no such folder")
  }
}

const isVocoder = (name: string) => /voc|hifigan/iu.test(name)

/** Pure. */
export const modelIn = (names: ReadonlyArray<string>) => {
  const models = names.filter((name) => name.endsWith(".onnx"))
  const [vocoder] = models.filter(isVocoder)
  const [model, other] = models.filter((name) => !isVocoder(name))
  if (model === undefined) throw new FolderFault("it has no model, a file whose name ends with .onnx")
  if (other !== undefined)
    throw new FolderFault(`it has two models, ${model} and ${other}; keep the one that is to speak`)
  return { model, vocoder }
}

const needed = ({ names }: Pick<ModelPath, "names">, name: string, why: string) => {
  if (!names.includes(name)) throw new FolderFault(`it has no ${name}, ${why}`)
}

const textFiles = ({ folder, names }: Pick<ModelPath, "folder" | "names">) => {
  needed({ names }, "tokens.txt", "which numbers the model's symbols")
  const lexicons = names.filter((name) => /^lexicon.*\.txt$/u.test(name))
  const hasData = names.includes("espeak-ng-data")
  if (lexicons.length === 0 && !hasData) {
    throw new FolderFault("it has neither espeak-ng-data nor lexicon.txt, one of which turns words into symbols")
  }
  return {
    tokens: join(folder, "tokens.txt"),
    ...(lexicons.length > 0 ? { lexicon: lexicons.map((name) => join(folder, name)).join(",") } : {}),
    ...(hasData ? { dataDir: join(folder, "espeak-ng-data") } : {})
  }
}

const matchaFiles = (place: ModelPath, vocoder: string): ModelFiles => ({
  matcha: { acousticModel: place.path, vocoder: join(place.folder, vocoder), ...textFiles(place) }
})

const isKitten = ({ metadata }: ModelContents) => [...metadata.values()].some((value) => /kitten/iu.test(value))

const kittenFiles = (place: ModelPath): ModelFiles => {
  needed(place, "voices.bin", "which has the voices' styles")
  return { kitten: { model: place.path, voices: join(place.folder, "voices.bin"), ...textFiles(place) } }
}

const styleBytes = 510 * 256 * 4

/** The styles of a Kokoro model: one file with all, by their numbers; or a folder with a file for each, by its name. */
const stylesIn = (folder: string, names: ReadonlyArray<string>): AcousticFiles["styles"] => {
  if (names.includes("voices.bin")) {
    const file = join(folder, "voices.bin")
    const count = Math.floor(statSync(file).size / styleBytes)
    if (count === 0) throw new FolderFault("voices.bin ends within its first style")
    return Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}`, { file, from: at * styleBytes }]))
  }
  if (!names.includes("voices")) throw new FolderFault("it has neither voices.bin nor voices, which have the styles")
  const files = readdirSync(join(folder, "voices"))
    .filter((name) => name.endsWith(".bin"))
    .toSorted()
  const broken = files.find((name) => statSync(join(folder, "voices", name)).size !== styleBytes)
  if (broken !== undefined) throw new FolderFault(`voices/${broken} is no style: it has not ${styleBytes} bytes`)
  if (files.length === 0) throw new FolderFault("voices has no style, a file whose name ends with .bin")
  const named = files.map((name) => [basename(name, ".bin"), { file: join(folder, "voices", name), from: 0 }] as const)
  return Object.fromEntries([...named, ...named.map(([, style], at) => [`${at}`, style] as const)])
}

interface PiperJson {
  readonly audio?: { readonly sample_rate?: number }
  readonly espeak?: { readonly voice?: string }
  readonly language?: { readonly name_english?: string }
  readonly num_speakers?: number
  readonly phoneme_id_map?: Readonly<Record<string, ReadonlyArray<number>>>
}

/** A Piper voice as sherpa-onnx requires it: with metadata, tokens.txt and espeak-ng's data. */
const piperFiles = (place: ModelPath, preparedFolder: string): ModelFiles => {
  const { folder, names, path, model, contents } = place
  const isReady = contents.metadata.has("sample_rate")
  const dataDir = names.includes("espeak-ng-data") ? join(folder, "espeak-ng-data") : systemData()
  if (isReady) {
    needed(place, "tokens.txt", "which numbers the model's symbols")
    return { vits: { model: path, tokens: join(folder, "tokens.txt"), dataDir } }
  }
  needed(place, `${model}.json`, "which describes a Piper voice")
  const text = withoutByteOrderMark(readFileSync(join(folder, `${model}.json`), "utf8"))
  const { metadata, tokens } = piperAdditions(text, `${model}.json`)
  const { size, mtimeMs } = statSync(path)
  const version = createHash("sha256").update(`1 ${size} ${mtimeMs} ${path} ${text}`).digest("hex").slice(0, 16)
  const prepared = join(preparedFolder, `${basename(model, ".onnx").replaceAll(/[^\w.-]/gu, "_")}-${version}`)
  if (!existsSync(prepared)) prepare(prepared, path, { metadata, tokens })
  return { vits: { model: join(prepared, "model.onnx"), tokens: join(prepared, "tokens.txt"), dataDir } }
}

interface PiperAdditions {
  readonly metadata: Readonly<Record<string, string>>
  readonly tokens: string
}

/** From a Piper voice's json. Pure. */
export const piperAdditions = (text: string, name: string): PiperAdditions => {
  const json = parsed(text, name)
  const [rate, voice, ids] = [json.audio?.sample_rate, json.espeak?.voice, json.phoneme_id_map]
  if (typeof rate !== "number") throw new FolderFault(`${name} has no audio.sample_rate`)
  if (typeof voice !== "string") throw new FolderFault(`${name} has no espeak.voice`)
  if (ids === undefined) throw new FolderFault(`${name} has no phoneme_id_map`)
  const metadata = {
    model_type: "vits",
    comment: "piper",
    language: json.language?.name_english ?? voice,
    voice,
    has_espeak: "1",
    n_speakers: `${json.num_speakers ?? 1}`,
    sample_rate: `${rate}`
  }
  return {
    metadata,
    tokens: Object.entries(ids)
      .map(([symbol, [id = 0]]) => `${symbol} ${id}\n`)
      .join("")
  }
}

const parsed = (text: string, name: string): PiperJson => {
  try {
    return JSON.parse(text) as PiperJson
  } catch {
    throw new FolderFault(`${name} is no JSON`)
  }
}

/** Completely or not at all: another process can prepare the same voice, and either copy will do. */
const prepare = (prepared: string, model: string, { metadata, tokens }: PiperAdditions) => {
  const partial = `${prepared}.${randomUUID()}.partial`
  rmSync(partial, { recursive: true, force: true })
  mkdirSync(partial, { recursive: true })
  copyFileSync(model, join(partial, "model.onnx"))
  appendFileSync(join(partial, "model.onnx"), metadataBytes(metadata))
  writeFileSync(join(partial, "tokens.txt"), tokens)
  try {
    renameSync(partial, prepared)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!existsSync(prepared)) throw error
  }
}

const systemData = () => {
  const patterns = ["/usr/lib/*/espeak-ng-data", "/usr/share/espeak-ng-data", "/usr/lib/espeak-ng-data"]
  const [found] = patterns.flatMap((pattern) => globSync(pattern))
  if (found === undefined) throw new FolderFault("it has no espeak-ng-data, and the system has none either")
  return found
}
