/**
 * The engine of one model from a folder: a thread of its own that holds the model, once in the process. The model is
 * read, opened and warm before the pool is available; an unusable folder fails with what is wrong with it.
 */
import { join } from "node:path"
import { Effect } from "effect"
import type { ModelEngine, VoiceModel } from "#speech/contract"
import { defineGauge, Metrics, runContainedFile } from "#runtime"
import { VoiceModelUnusable } from "../Engine.ts"
import { openEnginePool } from "../EnginePool.ts"
import type { ModelFiles } from "../sherpa/tts.ts"
import { FolderFault, type FoundModel, readModelFolder } from "./model-folder.ts"

export interface ModelPoolOptions {
  readonly model: Pick<VoiceModel, "Id" | "Folder" | "Threads" | "Voices">
  /** The fleet's folder, where prepared copies are kept. */
  readonly home: string
  /** The limit on the size of the model's files. */
  readonly bytesMax: number
}

// A chunk lasts up to some thirty seconds, and a slow machine makes a second of audio in three.
const jobMsMax = 120_000
// A model stops only between passages; a thread that is terminated inside the library takes the process down.
const cancelMsMax = 60_000

const modelBytes = defineGauge({
  name: "speech_model_bytes",
  help: "Bytes of the files of a loaded voice model, by engine; its memory is somewhat more.",
  labels: ["engine"]
})

const modelThreads = defineGauge({
  name: "speech_model_threads",
  help: "Threads that compute for a loaded voice model, by engine.",
  labels: ["engine"]
})

export const modelMetrics = [modelBytes, modelThreads]

export const modelEngine = (id: string): ModelEngine => `model-${id}`

export const openModelPool = Effect.fn("ModelPool.open")(function* (options: ModelPoolOptions) {
  const { Id, Folder: folder, Threads } = options.model
  const unusable = (detail: string) => new VoiceModelUnusable({ model: Id, folder, detail })
  const found = yield* Effect.try({
    try: () => readModelFolder({ folder, preparedFolder: join(options.home, "voices") }),
    catch: (error) => unusable(error instanceof FolderFault ? error.message : String(error))
  })
  if (found.bytes > options.bytesMax) {
    return yield* unusable(
      `its files have ${megabytes(found.bytes)} MB, of which Voices.ModelMegabytesMax leaves ${megabytes(options.bytesMax)}`
    )
  }
  const fault = speakerFault(found, options.model.Voices)
  if (fault !== undefined) return yield* unusable(fault)
  if (found.runs === "sherpa") yield* probe(found.files, unusable)
  const engine = modelEngine(Id)
  const pool = yield* openEnginePool({
    engine,
    speaks: found.runs === "onnx" ? "acoustic" : "sherpa",
    packages: "npm's sherpa-onnx-node, and libespeak-ng1 with espeak-ng-data",
    model: found.runs === "onnx" ? { ...found.files, threads: Threads } : { files: found.files, threads: Threads },
    jobMsMax,
    cancelMsMax
  }).pipe(Effect.mapError((error) => unusable(error.message)))
  const metrics = yield* Metrics
  metrics.gauge(modelBytes).set({ engine }, found.bytes)
  metrics.gauge(modelThreads).set({ engine }, Threads)
  return { ...pool, bytes: found.bytes }
})

const megabytes = (bytes: number) => Math.ceil(bytes / 1_000_000)

const speakerFault = (found: FoundModel, voices: VoiceModel["Voices"]) => {
  if (found.runs === "sherpa") {
    const named = voices.find(({ Speaker }) => !/^\d+$/u.test(Speaker))
    return named === undefined ? undefined : `the speaker of ${named.Id} is to be a number, not ${named.Speaker}`
  }
  const known = found.files.kind === "hibari" ? ["0"] : namesFirst(Object.keys(found.files.styles))
  const unknown = voices.find(({ Speaker }) => !known.includes(Speaker))
  return unknown === undefined
    ? undefined
    : `the voice ${unknown.Id} has the speaker ${unknown.Speaker}; there are ${listed(known)}`
}

const namesFirst = (speakers: ReadonlyArray<string>) => {
  const isName = (speaker: string) => !/^\d+$/u.test(speaker)
  return [...speakers.filter(isName), ...speakers.filter((speaker) => !isName(speaker))]
}

const listed = (all: ReadonlyArray<string>) => (all.length > 60 ? `${all.slice(0, 60).join(", ")}, …` : all.join(", "))

const probe = Effect.fnUntraced(function* (files: ModelFiles, unusable: (detail: string) => VoiceModelUnusable) {
  const entry = new URL("../sherpa/probe.ts", import.meta.url)
  const run = yield* runContainedFile(entry, JSON.stringify(files)).pipe(
    Effect.mapError(({ message }) => unusable(message))
  )
  if (run.ending === "ended" && run.exitCode === 0) return
  const message = run.stderr.replaceAll(/\s+/gu, " ").trim().slice(0, 600)
  return yield* unusable(message === "" ? `opening it: ${run.ending}` : message)
})
