/**
 * A thread that measures distances, as the check sees it: started with its scope, used by many fibers, ended with its
 * scope. A thread that dies or hangs fails its open questions and is started anew for the next one.
 */
import { Worker } from "node:worker_threads"
import { Deferred, Effect } from "effect"
import { type Recording, recordingHz } from "#audio"
import { VerificationUnavailable } from "../verdict.ts"
import type { FromThread, ThreadData, ToThread } from "./serve.ts"

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
  yield* thread

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
