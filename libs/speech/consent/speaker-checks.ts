/**
 * The speaker checks there are: by the shape of the throat, which needs nothing and is weak, and by the model of
 * whoever runs the service, which is strong. A model that cannot be used stops the start.
 */
import { join } from "node:path"
import { execPath } from "node:process"
import { fileURLToPath } from "node:url"
import { Effect, Layer } from "effect"
import { runContained } from "#audio"
import { SpeakerModelUnusable } from "./errors.ts"
import type { ConsentSettings } from "./settings.ts"
import { modelFault } from "./speaker/model-fault.ts"
import { openSpeakerThread } from "./speaker/SpeakerThread.ts"
import { SpeakerCheck } from "./SpeakerCheck.ts"

export type SpeakerSettings = Pick<
  ConsentSettings,
  "speakerDistanceMax" | "speakerModelFolder" | "speakerModelDistanceMax"
>

export const speakerCheckLayer = (settings: SpeakerSettings) =>
  settings.speakerModelFolder === "" ? gaussianLayer(settings) : embeddingLayer(settings)

const answerMsMax = 10_000

const gaussianLayer = (settings: SpeakerSettings) =>
  Layer.effect(
    SpeakerCheck,
    Effect.gen(function* () {
      const entry = new URL("./speaker/gaussian-thread.ts", import.meta.url)
      const { ask } = yield* openSpeakerThread({ entry, data: { model: "" }, answerMsMax })
      return SpeakerCheck.of({
        method: "mfcc-gaussian",
        strength: "weak",
        distanceMax: settings.speakerDistanceMax,
        distance: ask
      })
    }).pipe(Effect.orDie)
  )

const embeddingLayer = ({ speakerModelFolder: folder, speakerModelDistanceMax }: SpeakerSettings) =>
  Layer.effect(
    SpeakerCheck,
    Effect.gen(function* () {
      const model = join(folder, "model.onnx")
      yield* probe(folder, model)
      const entry = new URL("./speaker/embedding-thread.ts", import.meta.url)
      const { ask } = yield* openSpeakerThread({ entry, data: { model }, answerMsMax }).pipe(
        Effect.mapError(({ detail }) => new SpeakerModelUnusable({ folder, detail }))
      )
      return SpeakerCheck.of({
        method: "speaker-embedding",
        strength: "strong",
        distanceMax: speakerModelDistanceMax,
        distance: ask
      })
    })
  )

// A large model is read in seconds. Address space is not limited: the runtime reserves plenty that it never uses.
const probeLimits = { wallMsMax: 60_000, cpuSecondsMax: 60, memoryMegabytesMax: 1_048_576, outputBytesMax: 65_536 }

const probe = Effect.fnUntraced(function* (folder: string, model: string) {
  const entry = fileURLToPath(new URL("./speaker/probe-embeddings.ts", import.meta.url))
  const run = yield* runContained(execPath, [entry, model], probeLimits).pipe(
    Effect.mapError(({ message }) => new SpeakerModelUnusable({ folder, detail: message }))
  )
  const detail = modelFault(run)
  if (detail !== null) return yield* new SpeakerModelUnusable({ folder, detail })
})
