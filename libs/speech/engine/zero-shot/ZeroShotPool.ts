/**
 * A zero-shot model from the operator's folder: it speaks with the voice of a recording, slowly and at the cost of much
 * of the machine, beside the embedded engines. Folder and model are tried before the role reports that it is ready.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Effect, Stream } from "effect"
import { runContainedFile } from "#runtime"
import { EngineFailed, type SpeechEngine, ZeroShotModelUnusable } from "../Engine.ts"
import { openEnginePool } from "../EnginePool.ts"
import type { ModelFiles } from "../sherpa/tts.ts"

interface ZeroShotOptions {
  readonly modelFolder: string
  /** The samples of a reference, 16,000 Hz; fails with the reason why they are unavailable. */
  readonly reference: (object: string) => Effect.Effect<Int16Array, string>
}

const engine = "zero-shot"
// A chunk lasts up to some twenty seconds, and a slow machine makes a second of audio in three.
const jobMsMax = 120_000
// The library stops only between sentences; a thread that is terminated while the library runs takes the process down.
const cancelMsMax = 60_000

export const openZeroShotPool = Effect.fn("ZeroShotPool.open")(function* (options: ZeroShotOptions) {
  const { modelFolder: folder } = options
  const found = yield* findModel(folder)
  yield* probe(folder, found)
  const threads = yield* openEnginePool({
    engine,
    speaks: "zero-shot",
    packages: "npm's sherpa-onnx-node",
    model: found.files,
    jobMsMax,
    cancelMsMax
  })
  const synthesize: SpeechEngine["synthesize"] = (job) => {
    const { voice } = job
    if (voice.engine !== engine) return Stream.fail(unusableVoice(`${voice.engine} is another engine's voice`))
    return options.reference(voice.reference.object).pipe(
      Effect.mapError(unusableVoice),
      Effect.map((samples) => threads.synthesize({ ...job, reference: { samples } })),
      Stream.unwrap
    )
  }
  return { name: engine, synthesize } satisfies SpeechEngine
})

const unusableVoice = (detail: string) => new EngineFailed({ engine, reason: "voice", detail })

const findModel = Effect.fnUntraced(function* (folder: string) {
  const names = yield* Effect.try({
    try: () => readdirSync(folder),
    catch: () => new ZeroShotModelUnusable({ folder, detail: "there is no such folder" })
  })
  const found = modelIn(folder, names)
  if (found.kind === "none") return yield* new ZeroShotModelUnusable({ folder, detail: found.detail })
  return found
})

const probe = Effect.fnUntraced(function* (folder: string, found: Exclude<FoundModel, { readonly kind: "none" }>) {
  const entry = new URL("../sherpa/probe.ts", import.meta.url)
  const run = yield* runContainedFile(entry, JSON.stringify(found.files)).pipe(
    Effect.mapError(({ message }) => new ZeroShotModelUnusable({ folder, detail: message }))
  )
  if (run.ending === "ended" && run.exitCode === 0) return
  const message = run.stderr.replaceAll(/\s+/gu, " ").trim().slice(0, 600)
  return yield* new ZeroShotModelUnusable({ folder, detail: message === "" ? `opening it: ${run.ending}` : message })
})

type FoundModel =
  | { readonly kind: "zipvoice" | "vits"; readonly files: ModelFiles }
  | { readonly kind: "none"; readonly detail: string }

/** The file names in releases: with or without the width of their numbers, and the vocoder by its rate. */
const patterns = {
  encoder: /^encoder(?:\.[a-z0-9]+)?\.onnx$/u,
  decoder: /^decoder(?:\.[a-z0-9]+)?\.onnx$/u,
  vocoder: /^voc[a-z0-9_]*(?:\.[a-z0-9]+)?\.onnx$/u,
  model: /^model(?:\.[a-z0-9]+)?\.onnx$/u
}

/**
 * The model in a folder, recognized by its file names. A ZipVoice model takes on the voice of a reference; a VITS model
 * has its own voice and speaks with it whatever the reference. Other files are ignored.
 */
export const modelIn = (folder: string, names: ReadonlyArray<string>): FoundModel => {
  const found = (part: keyof typeof patterns) => names.find((name) => patterns[part].test(name))
  const has = (name: string) => names.includes(name)
  const shared = {
    tokens: join(folder, "tokens.txt"),
    ...(has("lexicon.txt") ? { lexicon: join(folder, "lexicon.txt") } : {}),
    ...(has("espeak-ng-data") ? { dataDir: join(folder, "espeak-ng-data") } : {})
  }
  const [encoder, decoder, vocoder, model] = [found("encoder"), found("decoder"), found("vocoder"), found("model")]
  if (!has("tokens.txt")) return { kind: "none", detail: "it has no tokens.txt" }
  if (encoder !== undefined && decoder !== undefined && vocoder !== undefined) {
    const at = (name: string) => join(folder, name)
    return {
      kind: "zipvoice",
      files: { zipvoice: { ...shared, encoder: at(encoder), decoder: at(decoder), vocoder: at(vocoder) } }
    }
  }
  if (model !== undefined) return { kind: "vits", files: { vits: { ...shared, model: join(folder, model) } } }
  const detail = "it has neither encoder.onnx, decoder.onnx and vocoder.onnx (ZipVoice) nor model.onnx (VITS)"
  return { kind: "none", detail }
}
