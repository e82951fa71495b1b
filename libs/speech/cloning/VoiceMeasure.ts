/**
 * Measures samples in threads of their own, for half a second of computing would make every stream of the process
 * stutter. At most two at once, some wait, further callers are told to come back; one that takes long is given up.
 */
import { Worker } from "node:worker_threads"
import { Clock, Context, Effect, Exit, Layer, Semaphore } from "effect"
import { type Recording, recordingHz } from "#audio"
import type { VoiceTraits } from "#contracts"
import { Metrics } from "#runtime"
import { TooLittleVoice, VoiceMeasureUnavailable } from "./errors.ts"
import type { MeasureOrder } from "./measure-thread.ts"
import { type Measured, voicedSecondsMin } from "./measure-voice.ts"
import { measureSeconds, voicesMeasured } from "./metrics.ts"

// Both cores of a small machine at most: whoever creates a voice waits for other things too.
const atOnceMax = 2
// A second each: the last of them still answers within ten.
const waitingMax = 16
// Thirty seconds of speech take half a second; a machine under load some more.
const measureMsMax = 20_000
const retryAfterSeconds = 5

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
      const metrics = yield* Metrics
      const clock = yield* Clock.Clock
      const outcomes = metrics.counter(voicesMeasured)
      const seconds = metrics.histogram(measureSeconds)
      const places = yield* Semaphore.make(atOnceMax)
      let present = 0

      const busy = Effect.fail(unavailable("busy", `${waitingMax} samples wait already`))
      const enter = Effect.suspend(() => {
        if (present >= atOnceMax + waitingMax) return busy
        present += 1
        return Effect.void
      })
      const leave = Effect.sync(() => void (present -= 1))

      const measured = Effect.fnUntraced(function* (samples: Int16Array) {
        const begunMs = clock.currentTimeMillisUnsafe()
        const result = yield* inThread({ samples, rateHz: recordingHz }).pipe(
          Effect.timeoutOrElse({
            duration: measureMsMax,
            orElse: () => Effect.fail(unavailable("timeout", `no end after ${measureMsMax} ms`))
          })
        )
        seconds.observe({}, (clock.currentTimeMillisUnsafe() - begunMs) / 1_000)
        if (result.kind === "measured") return result.traits
        return yield* new TooLittleVoice({ voicedSeconds: result.voicedSeconds, voicedSecondsMin })
      })

      const measure = Effect.fn("VoiceMeasure.measure")(({ samples }: Pick<Recording, "samples">) =>
        Effect.acquireUseRelease(
          enter,
          () => places.withPermit(measured(samples)),
          () => leave
        ).pipe(Effect.onExit((exit) => Effect.sync(() => outcomes.inc({ outcome: outcomeOf(exit) }))))
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

/** A thread that is given up ends at once: what it does is computing, and touches nothing. */
const inThread = (order: MeasureOrder) =>
  Effect.callback<Measured, VoiceMeasureUnavailable>((resume) => {
    const worker = new Worker(new URL("./measure-thread.ts", import.meta.url), { workerData: order, name: "measure" })
    worker.once("message", (result: Measured) => resume(Effect.succeed(result)))
    worker.once("error", (error) => resume(Effect.fail(unavailable("failed", String(error)))))
    worker.once("exit", (code) => resume(Effect.fail(unavailable("failed", `the thread ended with code ${code}`))))
    return Effect.promise(() => worker.terminate())
  })
