/**
 * Recordings from outsiders, decoded and measured. The file can be anything: a contained ffmpeg that knows a few audio
 * formats opens it, and decodes no more of it than will be used. At most `readingMax` are read at once and `waitingMax`
 * wait. The caller owns the file and removes it; nothing is written here.
 */
import { Context, Effect, Layer, Option, Semaphore } from "effect"
import { type ContainedLimits, type ContainedRun, defineCounter, defineGauge, Metrics, runContained } from "#runtime"
import { FfmpegMissing, IntakeBusy, RecordingUnusable } from "./errors.ts"
import { pcmFromBytes } from "./samples.ts"

/** Wide enough for recognizers and speaker checks. */
export const recordingHz = 16_000

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
    /** The recording in a file, if it is within the limits. The path is absolute. */
    readonly readRecording: (
      path: string,
      limits: RecordingLimits
    ) => Effect.Effect<Recording, RecordingUnusable | IntakeBusy | FfmpegMissing>
  }
>()("starling/speech/RecordingIntake") {
  static readonly layer = (options: RecordingIntakeOptions = recordingIntakeDefaults) =>
    Layer.effect(
      RecordingIntake,
      Effect.gen(function* () {
        const { ffmpegPath, readingMax, waitingMax } = options
        const metrics = yield* Metrics
        const outcomes = metrics.counter(recordingsRead)
        const reading = metrics.gauge(recordingsReading)
        const queue = yield* Semaphore.make(readingMax + waitingMax)
        const slots = yield* Semaphore.make(readingMax)
        let running = 0

        const count = (by: number) =>
          Effect.sync(() => {
            running += by
            reading.set({}, running)
          })

        const decode = Effect.fnUntraced(function* (path: string, limits: RecordingLimits) {
          const run = yield* runContained(ffmpegPath, decodeParameters(path), {
            ...options.limits,
            outputBytesMax: Math.ceil(limits.secondsMax + 1) * recordingHz * 2
          }).pipe(Effect.mapError(({ path, detail }) => new FfmpegMissing({ path, detail })))
          const recording = readDecoded(run, limits.name)
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
  labels: ["outcome"],
  values: { outcome: ["taken", "busy", "missing", ...RecordingUnusable.fields.reason.literals] }
})

const recordingsReading = defineGauge({
  name: "audio_recordings_reading",
  help: "Recordings being read now.",
  labels: []
})

export const intakeMetrics = [recordingsRead, recordingsReading]

// If the decoded share of the announced length is below this, the file's end is missing.
const completeShareMin = 0.9
const missingSecondsMin = 0.5

/**
 * Decoding: how ffmpeg is called on a file that can be anything, and the result of its run, a recording or why there is
 * none. Pure.
 */
export const readDecoded = (run: ContainedRun, name: string): Recording | RecordingUnusable => {
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const isOutOfMemory = run.exitCode !== 0 && run.stderr.includes("Cannot allocate memory")
  if (run.ending === "wall_time" || run.ending === "cpu_time" || isOutOfMemory) {
    return unusable("too_costly", "decoding it takes more of the machine than a recording may")
  }
  const samples = pcmFromBytes(run.output)
  const seconds = samples.length / recordingHz
  if (run.ending !== "output") {
    if (samples.length === 0) return unusable("not_audio", "it holds no audio that can be decoded here")
    if (run.exitCode !== 0) return unusable("damaged", "it stops being audio in the middle")
    const announced = announcedSeconds(run.stderr)
    if (announced !== null && seconds < announced * completeShareMin && announced - seconds > missingSecondsMin) {
      return unusable("damaged", `it announces ${announced.toFixed(1)} seconds and has ${seconds.toFixed(1)}`)
    }
  }
  return { samples, seconds, levels: measureLevels(samples, recordingHz) }
}

/** Null if the container has no duration, or ffmpeg guessed it. */
const announcedSeconds = (stderr: string): number | null => {
  if (stderr.includes("Estimating duration from bitrate")) return null
  const [, hours, minutes, rest] = /^ {2}Duration: (\d{1,6}):(\d\d):(\d\d\.\d\d),/mu.exec(stderr) ?? []
  return hours === undefined ? null : Number(hours) * 3_600 + Number(minutes) * 60 + Number(rest)
}

// The demuxers' own names.
const formats = "wav,w64,aiff,caf,mp3,aac,mov,mp4,ogg,matroska,webm,flac,amr,amrnb,amrwb"

const decoders = [
  "pcm_u8,pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_s32be,pcm_f32le,pcm_f32be,pcm_f64le,pcm_alaw,pcm_mulaw",
  "adpcm_ima_wav,adpcm_ms,adpcm_ima_qt,mp3,mp3float,aac,aac_fixed,alac,flac,vorbis,opus,libopus,amrnb,amrwb",
  "libopencore_amrnb,libopencore_amrwb"
].join(",")

const reading = [
  "-nostdin -hide_banner -loglevel info -nostats",
  `-threads 1 -protocol_whitelist file -format_whitelist ${formats} -codec_whitelist ${decoders}`,
  "-probesize 5000000 -analyzeduration 5000000 -max_streams 32"
]

const writing = [
  "-map 0:a:0 -vn -sn -dn -map_metadata -1 -filter_threads 1",
  `-ac 1 -ar ${recordingHz} -c:a pcm_s16le -f s16le pipe:1`
]

const words = (lines: ReadonlyArray<string>) => lines.join(" ").split(" ")

/**
 * The parameters of ffmpeg for a file that can be anything. Only self-contained audio containers are opened: a
 * playlist, a list of files, an image sequence or a script of inputs would make ffmpeg open the files that they name.
 * Only audio decoders run, one thread each; only the first audio stream is decoded. Pure.
 */
const decodeParameters = (path: string): ReadonlyArray<string> => [
  ...words(reading),
  "-i",
  // With the protocol before it a name is a name, whatever it starts with.
  `file:${path}`,
  ...words(writing)
]

interface RecordingLevels {
  /** Share of the time, 0 to 1, that is silence: 35 dB below the loud parts, or below -50 dBFS. */
  readonly silenceRatio: number
  /** Share of the samples, 0 to 1, at full scale next to another one at full scale. */
  readonly clippingRatio: number
}

/** A decoded recording: its samples, and its recording quality as far as the samples show it. */
export interface Recording {
  /** Mono, at `recordingHz`. */
  readonly samples: Int16Array
  /** The length of the decoded samples, whatever the file announces. */
  readonly seconds: number
  readonly levels: RecordingLevels
}

/** The requirements of a usable recording. */
export interface RecordingLimits {
  /** The caller's name for it in errors: `sample`, `consent_recording`. */
  readonly name: string
  readonly secondsMin: number
  readonly secondsMax: number
  readonly silenceRatioMax: number
  readonly clippingRatioMax: number
}

/** The first fault of its length or levels, or null. Pure. */
export const judgeRecording = (
  { seconds, levels }: Pick<Recording, "seconds" | "levels">,
  limits: RecordingLimits
): RecordingUnusable | null => {
  const { name, secondsMin, secondsMax, silenceRatioMax, clippingRatioMax } = limits
  const unusable = (reason: RecordingUnusable["reason"], detail: string) =>
    new RecordingUnusable({ name, reason, detail })
  const lengths = `between ${secondsMin} and ${secondsMax} seconds are needed`
  // Decoding stops a little past the limit, so the full length is unknown.
  if (seconds > secondsMax) return unusable("too_long", `it is longer than ${secondsMax} seconds; ${lengths}`)
  if (seconds < secondsMin) return unusable("too_short", `it is ${seconds.toFixed(1)} seconds long; ${lengths}`)
  if (levels.silenceRatio > silenceRatioMax) {
    return unusable(
      "silent",
      `${percent(levels.silenceRatio)} of it is silence; ${percent(silenceRatioMax)} at most may be`
    )
  }
  if (levels.clippingRatio > clippingRatioMax) {
    return unusable("clipped", `it is too loud: ${percent(levels.clippingRatio)} of it is cut off at full scale`)
  }
  return null
}

const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`

const frameMs = 20
const silentDbfs = -50
/** This far below the loud parts even the quiet sounds of speech have ended. */
const silentBelowLoudDb = 35
/** Encoding and resampling blur the ceiling a little. */
const fullScale = 32_500
const full = 32_768

/** The shares of silence and of clipped samples in a recording. Pure, linear in its length. */
export const measureLevels = (samples: Int16Array, sampleRateHz: number): RecordingLevels => {
  const frames = framePowers(samples, Math.round((sampleRateHz * frameMs) / 1_000))
    .map(dbOfPower)
    .toSorted((a, b) => a - b)
  const loud = frames[Math.floor(0.95 * (frames.length - 1))] ?? -Infinity
  const threshold = Math.max(silentDbfs, loud - silentBelowLoudDb)
  const silent = frames.filter((db) => db < threshold).length
  return {
    silenceRatio: frames.length === 0 ? 1 : silent / frames.length,
    clippingRatio: clippedSamples(samples) / Math.max(1, samples.length)
  }
}

/** The lowest level that 16 bits can distinguish from silence. */
const floorDbfs = -96
const dbOfPower = (power: number) => Math.max(floorDbfs, 10 * Math.log10(power / full ** 2))

const framePowers = (samples: Int16Array, frameSamples: number): Array<number> => {
  const powers: Array<number> = []
  for (let from = 0; from + frameSamples <= samples.length; from += frameSamples) {
    let sum = 0
    for (let index = from; index < from + frameSamples; index++) sum += (samples[index] ?? 0) ** 2
    powers.push(sum / frameSamples)
  }
  return powers
}

/** A single sample at full scale is a peak, two in a row are a plateau. */
const clippedSamples = (samples: Int16Array) => {
  let [clipped, wasFull] = [0, false]
  for (const sample of samples) {
    const isFull = Math.abs(sample) >= fullScale
    if (isFull && wasFull) clipped += 1
    wasFull = isFull
  }
  return clipped
}
