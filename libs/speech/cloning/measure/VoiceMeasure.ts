/**
 * Measures samples in threads of their own, because half a second of computing would make every stream of the process
 * stutter. At most two run at once, some wait, and further callers are told to come back; one that takes too long is
 * abandoned.
 */
import { Worker } from "node:worker_threads"
import { Context, Effect, Exit, Layer, Option, Schema, Semaphore } from "effect"
import { type Recording, recordingHz } from "#speech/audio"
import type { VoiceTraits } from "#speech/contract"
import { defineCounter, Metrics } from "#runtime"
import type { MeasureOrder } from "./thread.ts"
import { type Measured, voicedSecondsMin } from "./measure-voice.ts"

// At most both cores of a small machine: a caller that creates a voice waits for other things too.
const atOnceMax = 2
// A second each: the last of them still answers within ten.
const waitingMax = 16
// Thirty seconds of speech take half a second; a machine under load takes longer.
const measureMsMax = 20_000
const retryAfterSeconds = 5

/** Reported to the sender of the sample. */
export class TooLittleVoice extends Schema.TaggedError<TooLittleVoice>()("TooLittleVoice", {
  voicedSeconds: Schema.Finite,
  voicedSecondsMin: Schema.Finite
}) {
  override get message() {
    return `only ${this.voicedSeconds} s of a voice were heard in the sample; ${this.voicedSecondsMin} s are needed`
  }
}

/** Our fault, and worth another try. */
export class VoiceMeasureUnavailable extends Schema.TaggedError<VoiceMeasureUnavailable>()("VoiceMeasureUnavailable", {
  reason: Schema.Literals(["busy", "timeout", "failed"]),
  detail: Schema.String,
  retryAfterSeconds: Schema.Int
}) {
  override get message() {
    return `the voice could not be measured (${this.reason}): ${this.detail}`
  }
}

const voicesMeasured = defineCounter({
  name: "speech_voice_measures_total",
  help: "Samples measured, by outcome: measured, too_little_voice, unavailable, cancelled.",
  labels: ["outcome"],
  values: { outcome: ["measured", "too_little_voice", "unavailable", "cancelled"] }
})

export const cloningMetrics = [voicesMeasured]

export class VoiceMeasure extends Context.Service<
  VoiceMeasure,
  {
    readonly measure: (
      sample: Pick<Recording, "samples">
    ) => Effect.Effect<VoiceTraits, TooLittleVoice | VoiceMeasureUnavailable>
  }
>()("starling/speech/VoiceMeasure") {
  static readonly layer = Layer.effect(
    VoiceMeasure,
    Effect.gen(function* () {
      const outcomes = (yield* Metrics).counter(voicesMeasured)
      const queue = yield* Semaphore.make(atOnceMax + waitingMax)
      const slots = yield* Semaphore.make(atOnceMax)
      const busy = () => Effect.fail(unavailable("busy", `${waitingMax} samples wait already`))

      const measured = Effect.fnUntraced(function* (samples: Int16Array) {
        const result = yield* inThread({ samples, rateHz: recordingHz }).pipe(
          Effect.timeoutOrElse({
            duration: measureMsMax,
            orElse: () => Effect.fail(unavailable("timeout", `no end after ${measureMsMax} ms`))
          })
        )
        if (result.kind === "measured") return result.traits
        return yield* new TooLittleVoice({ voicedSeconds: result.voicedSeconds, voicedSecondsMin })
      })

      const measure = Effect.fn("VoiceMeasure.measure")(({ samples }: Pick<Recording, "samples">) =>
        measured(samples).pipe(
          slots.withPermit,
          queue.withPermitsIfAvailable(1),
          Effect.flatMap(Option.match({ onNone: busy, onSome: Effect.succeed })),
          Effect.onExit((exit) => Effect.sync(() => outcomes.inc({ outcome: outcomeOf(exit) })))
        )
      )
      return VoiceMeasure.of({ measure })
    })
  )
}

const unavailable = (reason: VoiceMeasureUnavailable["reason"], detail: string) =>
  new VoiceMeasureUnavailable({ reason, detail, retryAfterSeconds })

const outcomeOf = (exit: Exit.Exit<VoiceTraits, TooLittleVoice | VoiceMeasureUnavailable>) => {
  if (Exit.isSuccess(exit)) return "measured"
  if (Exit.hasInterrupts(exit)) return "cancelled"
  const failed = exit.cause.reasons.some((reason) => reason._tag === "Fail" && reason.error._tag === "TooLittleVoice")
  return failed ? "too_little_voice" : "unavailable"
}

/** An abandoned thread ends at once: it only computes, and touches nothing. */
const inThread = (order: MeasureOrder) =>
  Effect.callback<Measured, VoiceMeasureUnavailable>((resume) => {
    const worker = new Worker(new URL("./thread.ts", import.meta.url), {
      workerData: order,
      name: "measure"
    })
    worker.once("message", (result: Measured) => resume(Effect.succeed(result)))
    worker.once("error", (error) => resume(Effect.fail(unavailable("failed", String(error)))))
    worker.once("exit", (code) => resume(Effect.fail(unavailable("failed", `the thread ended with code ${code}`))))
    return Effect.promise(() => worker.terminate())
  })
