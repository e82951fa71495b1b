/**
 * The intake decodes and measures recordings that strangers send. The file may be anything: a contained ffmpeg that
 * knows a few audio formats opens it, and decodes no more of it than may be used. At most `readingMax` are read at once
 * and `waitingMax` wait. The caller owns the file and removes it; nothing is written here.
 */
import { Clock, Context, Effect, Layer, Option, Semaphore } from "effect"
import { type ContainedLimits, defineCounter, defineGauge, defineHistogram, Metrics, runContained } from "#runtime"
import { IntakeBusy, FfmpegMissing, RecordingUnusable } from "../errors.ts"
import { decodeParameters, readDecoded } from "./decoding.ts"
import { judgeRecording, type Recording, recordingHz, type RecordingLimits } from "./recording.ts"

interface RecordingIntakeOptions {
  readonly ffmpegPath: string
  readonly readingMax: number
  readonly waitingMax: number
  readonly limits: Omit<ContainedLimits, "outputBytesMax">
}

export const recordingIntakeDefaults: RecordingIntakeOptions = {
  ffmpegPath: "ffmpeg",
  // One takes 0.15 s of one processor.
  readingMax: 2,
  waitingMax: 16,
  limits: { wallMsMax: 20_000, cpuSecondsMax: 10, memoryMegabytesMax: 1_024 }
}

export class RecordingIntake extends Context.Service<
  RecordingIntake,
  {
    /** The recording in a file, when it is within the limits. The path is absolute. */
    readonly readRecording: (
      path: string,
      limits: RecordingLimits
    ) => Effect.Effect<Recording, RecordingUnusable | IntakeBusy | FfmpegMissing>
  }
>()("starling/audio/RecordingIntake") {
  static readonly layer = (options: RecordingIntakeOptions = recordingIntakeDefaults) =>
    Layer.effect(
      RecordingIntake,
      Effect.gen(function* () {
        const { ffmpegPath, readingMax, waitingMax } = options
        const metrics = yield* Metrics
        const outcomes = metrics.counter(recordingsRead)
        const reading = metrics.gauge(recordingsReading)
        const durations = metrics.histogram(recordingSeconds)
        const queue = yield* Semaphore.make(readingMax + waitingMax)
        const slots = yield* Semaphore.make(readingMax)
        let running = 0

        const count = (by: number) =>
          Effect.sync(() => {
            running += by
            reading.set({}, running)
          })

        const decode = Effect.fnUntraced(function* (path: string, limits: RecordingLimits) {
          const startedMs = yield* Clock.currentTimeMillis
          const run = yield* runContained(ffmpegPath, decodeParameters(path), {
            ...options.limits,
            outputBytesMax: Math.ceil(limits.secondsMax + 1) * recordingHz * 2
          }).pipe(Effect.mapError(({ path, detail }) => new FfmpegMissing({ path, detail })))
          const recording = readDecoded(run, limits.name)
          durations.observe({}, ((yield* Clock.currentTimeMillis) - startedMs) / 1_000)
          if (recording instanceof RecordingUnusable) return yield* recording
          const fault = judgeRecording(recording, limits)
          return fault === null ? recording : yield* fault
        })

        const busy = () => Effect.fail(new IntakeBusy({ waitingMax, retryAfterSeconds: 2 }))

        const readRecording = Effect.fn("RecordingIntake.readRecording")((path: string, limits: RecordingLimits) =>
          Effect.acquireUseRelease(
            count(1),
            () => decode(path, limits),
            () => count(-1)
          ).pipe(
            slots.withPermit,
            queue.withPermitsIfAvailable(1),
            Effect.flatMap(Option.match({ onNone: busy, onSome: Effect.succeed })),
            Effect.tapError((error) => Effect.sync(() => outcomes.inc({ outcome: outcomeOf(error) }))),
            Effect.tap(() => Effect.sync(() => outcomes.inc({ outcome: "taken" })))
          )
        )
        return RecordingIntake.of({ readRecording })
      })
    )
}

const outcomeOf = (error: RecordingUnusable | IntakeBusy | FfmpegMissing) => {
  if (error._tag === "RecordingUnusable") return error.reason
  return error._tag === "IntakeBusy" ? "busy" : "missing"
}

const recordingsRead = defineCounter({
  name: "audio_recordings_total",
  help: "Recordings sent in, by outcome: taken, a reason for which it cannot be used, busy, missing.",
  labels: ["outcome"]
})

const recordingsReading = defineGauge({
  name: "audio_recordings_reading",
  help: "Recordings being read now.",
  labels: []
})

const recordingSeconds = defineHistogram({
  name: "audio_recording_read_seconds",
  help: "Time to decode and measure one recording, whatever came of it.",
  labels: [],
  buckets: [0.05, 0.1, 0.15, 0.25, 0.5, 1, 2, 4, 8, 16]
})

export const intakeMetrics = [recordingsRead, recordingsReading, recordingSeconds]
