/**
 * The encoder pool starts encoders ahead: one start costs 60 ms, an idle encoder answers in about 1 ms. An encoder that
 * delivered its answer waits for the next one, any other is killed with the scope that took it; all end with the pool.
 * The number of idle encoders follows demand. At most `processesMax` exist: beyond it an idle one makes room, then a
 * request waits, then it fails.
 */
import { Context, Effect, Layer, Option, type Scope, Semaphore } from "effect"
import { Metrics } from "#runtime"
import { encoderPlan, type EncoderPlan } from "./plan.ts"
import { type AudioError, EncoderOverloaded } from "../errors.ts"
import type { FfmpegOptions } from "./ffmpeg-process.ts"
import type { LameOptions } from "./lame-process.ts"
import type { LossyEncoder } from "./lossy-encoder.ts"
import { makeIdleEncoders } from "./idle.ts"
import { encoderFailures, encodersRunning } from "./metrics.ts"

export interface FfmpegPoolOptions extends FfmpegOptions, LameOptions {
  /** Encoders in use and idle ones together. */
  readonly processesMax: number
  /** How long a request waits for an encoder. */
  readonly waitMsMax: number
  /** How many requests can wait at once. */
  readonly waitingMax: number
  /** Idle encoders of one kind, at most. */
  readonly depthMax: number
  /** Idle encoders of the default kind, even without requests. */
  readonly defaultDepth: number
}

export const ffmpegPoolDefaults: FfmpegPoolOptions = {
  ffmpegPath: "ffmpeg",
  niceness: 0,
  lameProcessesMax: 4,
  // A piece takes a millisecond, and as many wait as there are encoders.
  lameSilenceMsMax: 30_000,
  // Each takes 10 MB of its own.
  processesMax: 192,
  waitMsMax: 2_000,
  waitingMax: 256,
  depthMax: 12,
  defaultDepth: 1
}

/** The format of a request that names none. */
const defaultPlan = encoderPlan("mp3", 24_000, 64)

export class FfmpegPool extends Context.Service<
  FfmpegPool,
  {
    /** An encoder for one answer. */
    readonly take: (plan: EncoderPlan) => Effect.Effect<LossyEncoder, AudioError, Scope.Scope>
  }
>()("starling/speech/FfmpegPool") {
  static readonly layer = (options: FfmpegPoolOptions = ffmpegPoolDefaults) =>
    Layer.effect(
      FfmpegPool,
      Effect.gen(function* () {
        const { processesMax, waitMsMax, waitingMax } = options
        const metrics = yield* Metrics
        const running = metrics.gauge(encodersRunning)
        const failures = metrics.counter(encoderFailures)
        const queue = yield* Semaphore.make(waitingMax)
        const slots = yield* Semaphore.make(processesMax)
        const idle = yield* makeIdleEncoders({
          ...options,
          always: [{ plan: defaultPlan, depthMin: options.defaultDepth }]
        })
        const atWork = new Map<string, number>()

        const count = (key: string, by: number) => {
          const now = (atWork.get(key) ?? 0) + by
          atWork.set(key, now)
          running.set({ encoder: key }, now)
          idle.setRunning([...atWork.values()].reduce((total, one) => total + one, 0))
        }

        const overloaded = () => Effect.fail(new EncoderOverloaded({ lacks: "slots", processesMax, waitMsMax }))

        const slot = Semaphore.takeScoped(slots, 1).pipe(
          Effect.timeoutOrElse({ duration: waitMsMax, orElse: overloaded }),
          queue.withPermitsIfAvailable(1),
          Effect.flatMap(Option.match({ onNone: overloaded, onSome: Effect.succeed }))
        )

        return FfmpegPool.of({
          take: Effect.fnUntraced(function* (plan) {
            failures.begin({ encoder: plan.key })
            const failed = (error: AudioError) =>
              Effect.sync(() => failures.inc({ encoder: plan.key, reason: reasonOf(error) }))
            yield* Effect.tapError(slot, failed)
            const encoder = yield* Effect.acquireRelease(
              idle.take(plan).pipe(
                Effect.tap(() => Effect.sync(() => count(plan.key, 1))),
                Effect.tapError(failed)
              ),
              (encoder) =>
                Effect.sync(() => {
                  count(plan.key, -1)
                  idle.putBack(plan, encoder)
                })
            )
            yield* encoder.begin
            return { ...encoder, read: Effect.tapError(encoder.read, failed) }
          })
        })
      })
    )
}

const reasonOf = (error: AudioError) => {
  if (error._tag === "FfmpegMissing") return "missing"
  if (error._tag === "EncoderFailed") return "failed"
  return error.lacks === "slots" ? "overloaded" : "starting"
}
