/**
 * The distance of two voices: by the shape of the vocal tract, which needs no model and is weak, or by the operator's
 * model, which is strong. A model that cannot be used stops the start.
 */
import { join } from "node:path"
import { Context, Effect, Layer } from "effect"
import type { Recording } from "#audio"
import type { ConfigurationFile } from "#contracts"
import { type ContainedRun, runContainedFile } from "#runtime"
import { openSpeakerThread } from "./speaker/SpeakerThread.ts"
import { type ConsentEvidence, SpeakerModelUnusable, type VerificationUnavailable } from "./verdict.ts"

export class SpeakerCheck extends Context.Service<
  SpeakerCheck,
  {
    readonly method: string
    readonly strength: ConsentEvidence["speakerStrength"]
    /** Up to this distance two recordings count as one speaker's. */
    readonly distanceMax: number
    /** Not negative, symmetric, 0 for one and the same recording. */
    readonly distance: (one: Recording, other: Recording) => Effect.Effect<number, VerificationUnavailable>
  }
>()("starling/voice-cloning/SpeakerCheck") {}

type Section = ConfigurationFile["VoiceCloning"]

/** The check that the configuration names. Fails only for a model that cannot be used. */
export const speakerCheckLayer = (section: Section) =>
  section.SpeakerModelFolder === "" ? gaussianLayer(section) : embeddingLayer(section)

const entry = new URL("./speaker/thread.ts", import.meta.url)
const answerMsMax = 10_000

const gaussianLayer = ({ SpeakerDistanceMax }: Section) =>
  Layer.effect(
    SpeakerCheck,
    Effect.gen(function* () {
      const { ask } = yield* openSpeakerThread({ entry, model: "", answerMsMax })
      return SpeakerCheck.of({
        method: "mfcc-gaussian",
        strength: "weak",
        distanceMax: SpeakerDistanceMax,
        distance: ask
      })
    }).pipe(Effect.orDie)
  )

const embeddingLayer = ({ SpeakerModelFolder: folder, SpeakerModelDistanceMax }: Section) =>
  Layer.effect(
    SpeakerCheck,
    Effect.gen(function* () {
      const model = join(folder, "model.onnx")
      yield* probe(folder, model)
      const { ask } = yield* openSpeakerThread({ entry, model, answerMsMax }).pipe(
        Effect.mapError(({ detail }) => new SpeakerModelUnusable({ folder, detail }))
      )
      return SpeakerCheck.of({
        method: "speaker-embedding",
        strength: "strong",
        distanceMax: SpeakerModelDistanceMax,
        distance: ask
      })
    })
  )

const probe = Effect.fnUntraced(function* (folder: string, model: string) {
  const run = yield* runContainedFile(new URL("./speaker/probe.ts", import.meta.url), model).pipe(
    Effect.mapError(({ message }) => new SpeakerModelUnusable({ folder, detail: message }))
  )
  const detail = modelFault(run)
  if (detail !== null) return yield* new SpeakerModelUnusable({ folder, detail })
})

/** Why a speaker model could not be tried, for the operator; null when it could. */
export const modelFault = ({ ending, exitCode, stderr }: ContainedRun): string | null => {
  if (ending === "ended" && exitCode === 0) return null
  if (/Cannot find (?:module|package) 'sherpa-onnx/u.test(stderr)) {
    return "it needs a package that is not installed: npm install sherpa-onnx-node@1.13.8"
  }
  if (ending === "wall_time" || ending === "cpu_time") return "opening model.onnx takes more than a minute"
  const message = stderr.replaceAll(/\s+/gu, " ").trim().slice(0, 600)
  return `model.onnx is no speaker embedding model with sherpa-onnx's metadata, or is broken: ${message}`.replace(
    /: $/u,
    ""
  )
}
