/**
 * The distance of two voices: by the shape of the vocal tract, which needs no model and is weak, or by the operator's
 * model, which is strong. An unusable model stops the start.
 */
import { join } from "node:path"
import { Context, Deferred, Effect, Layer } from "effect"
import { type Recording, recordingHz } from "#speech/audio"
import type { VoiceCloning } from "#speech/contract"
import { type ContainedRun, runContainedFile } from "#runtime"
import { type ConsentEvidence, SpeakerModelUnusable, VerificationUnavailable } from "./verdict.ts"
import { Worker } from "node:worker_threads"
import type { FromThread, ThreadData, ToThread } from "./speaker/serve.ts"

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
>()("starling/speech/SpeakerCheck") {}

type Section = VoiceCloning

/** The check that the configuration names. Fails only for an unusable model. */
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

/** Why a speaker model could not be tried, for the operator; null if it could. */
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

interface SpeakerThreadOptions extends ThreadData {
  /** The file that the thread runs. */
  readonly entry: URL
  /** A pair that takes longer counts as hanging; two of 30 s take a tenth of a second. */
  readonly answerMsMax: number
}

interface Live {
  readonly worker: Worker
  readonly ready: Deferred.Deferred<void, VerificationUnavailable>
  readonly answers: Map<number, Deferred.Deferred<number, VerificationUnavailable>>
}

/**
 * A thread that measures distances: with a model it starts with its scope, without one at the first question. Many
 * fibers use it; it ends with its scope. A thread that dies or hangs fails its open questions and is restarted for the
 * next one.
 */
export const openSpeakerThread = Effect.fn("openSpeakerThread")(function* (options: SpeakerThreadOptions) {
  let live: Live | undefined
  let numbers = 0
  const stop = (gone: Live) =>
    Effect.promise(() => gone.worker.terminate()).pipe(Effect.timeoutOption("1 second"), Effect.asVoid)
  yield* Effect.addFinalizer(() => Effect.suspend(() => (live === undefined ? Effect.void : stop(live))))
  const thread = Effect.suspend(() => {
    const current = (live ??= start(options, (dead) => {
      if (live === dead) live = undefined
    }))
    return Effect.as(Deferred.await(current.ready), current)
  })
  // A model's faults are reported at startup; without one the thread takes less time than the check before it.
  if (options.model !== "") yield* thread

  const ask = Effect.fn("SpeakerCheck.distance")(function* (one: Recording, other: Recording) {
    const current = yield* thread
    const answer = Deferred.makeUnsafe<number, VerificationUnavailable>()
    numbers += 1
    const number = numbers
    current.answers.set(number, answer)
    const question: ToThread = { number, one: one.samples, other: other.samples, rateHz: recordingHz }
    current.worker.postMessage(question, [])
    const hangs = failing("timeout", `no answer within ${options.answerMsMax} ms`)
    return yield* Deferred.await(answer).pipe(
      Effect.timeoutOrElse({
        duration: options.answerMsMax,
        orElse: () => Effect.andThen(stop(current), Effect.fail(hangs))
      }),
      Effect.ensuring(Effect.sync(() => current.answers.delete(number)))
    )
  })
  return { ask }
})

const start = ({ entry, model }: SpeakerThreadOptions, onDeath: (live: Live) => void): Live => {
  const worker = new Worker(entry, { workerData: { model } satisfies ThreadData, name: "speaker-check" })
  const live: Live = { worker, ready: Deferred.makeUnsafe(), answers: new Map() }
  const die = (detail: string) => {
    onDeath(live)
    const dead = Effect.fail(failing("failed", detail))
    Deferred.doneUnsafe(live.ready, dead)
    for (const answer of live.answers.values()) Deferred.doneUnsafe(answer, dead)
  }
  worker.on("message", (message: FromThread) => {
    if (message.kind === "ready") return Deferred.doneUnsafe(live.ready, Effect.void)
    if (message.kind === "unusable") return die(message.detail)
    const answer = live.answers.get(message.number)
    if (answer === undefined) return
    Deferred.doneUnsafe(
      answer,
      message.kind === "distance" ? Effect.succeed(message.distance) : Effect.fail(failing("failed", message.detail))
    )
  })
  worker.on("error", (error: unknown) => die(error instanceof Error ? error.message : String(error)))
  worker.on("exit", (code) => die(`the thread ended with code ${code}`))
  return live
}

const failing = (reason: VerificationUnavailable["reason"], detail: string) =>
  new VerificationUnavailable({ stage: "speaker", reason, detail, retryAfterSeconds: 5 })
