/** Speakers for the measurement of consents: flite's voices, who are people, and espeak's, who come as impostors. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Stream } from "effect"
import { concatPcm, pcmToBytes, type Recording, RecordingIntake, type RecordingLimits } from "#speech/audio"
import { Metrics, Role } from "#runtime"
import { embedded, engineVoice, voiceById } from "#speech"

export const people = ["kal", "alan", "roger", "selma"] as const
export const impostors = ["henry", "marcus", "nora", "oliver", "emma"] as const

export const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-api")))

/** As clients send them. */
const containers = [
  { extension: "wav", parameters: [] },
  { extension: "mp3", parameters: ["-b:a", "64k"] },
  { extension: "webm", parameters: ["-c:a", "libopus", "-b:a", "32k"] },
  { extension: "m4a", parameters: ["-c:a", "aac", "-b:a", "64k"] }
] as const

const anyLength: RecordingLimits = {
  name: "recording",
  secondsMin: 0,
  secondsMax: 40,
  silenceRatioMax: 1,
  clippingRatioMax: 1
}

export interface Booth {
  /** What somebody says, sent in a container and taken in; the containers take turns. */
  readonly record: (voice: string, text: string, noiseBelowDb?: number) => Promise<Recording>
}

export const withBooth = <A>(use: (booth: Booth) => Promise<A>): Promise<A> =>
  Effect.gen(function* () {
    const engines = { flite: yield* embedded.flite.open(), espeak: yield* embedded.espeak.open() }
    const intake = yield* RecordingIntake
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-consents-"))),
      (path) => Effect.sync(() => rmSync(path, { recursive: true }))
    )
    let number = 0
    const say = Effect.fnUntraced(function* (id: string, text: string) {
      const shared = voiceById(id)
      const voice = shared === undefined ? undefined : engineVoice(shared, shared.locale)
      if (voice === undefined || (voice.engine !== "flite" && voice.engine !== "espeak")) {
        return yield* Effect.die(`there is no ${id}`)
      }
      const piece = { text, ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
      const frames = yield* Stream.runCollect(engines[voice.engine].synthesize({ voice, pieces: [piece] }))
      return concatPcm(frames.map(({ pcm }) => pcm))
    })
    const record = Effect.fnUntraced(function* (id: string, text: string, noiseBelowDb?: number) {
      const spoken = yield* say(id, text)
      const pcm = noiseBelowDb === undefined ? spoken : withNoise(spoken, noiseBelowDb)
      const container = containers[number++ % containers.length] ?? containers[0]
      const path = join(folder, `${number}.${container.extension}`)
      yield* Effect.promise(() => convert(pcm, container.parameters, path))
      return yield* intake.readRecording(path, anyLength)
    })
    const run = Effect.runPromiseWith(yield* Effect.context<never>())
    return yield* Effect.promise(() => use({ record: (...order) => run(record(...order)) }))
  }).pipe(Effect.scoped, Effect.provide(RecordingIntake.layer().pipe(Layer.provideMerge(metrics))), Effect.runPromise)

const convert = (pcm: Int16Array, parameters: ReadonlyArray<string>, path: string) =>
  new Promise<void>((resolve, reject) => {
    const input = ["-v", "error", "-f", "s16le", "-ar", "24000", "-ac", "1", "-i", "pipe:0"]
    const child = execFile("ffmpeg", [...input, ...parameters, "-y", path], (error) =>
      error === null ? resolve() : reject(error)
    )
    child.stdin?.end(pcmToBytes(pcm))
  })

/** White noise, so far below the mean power of the whole; the same in every run. */
const withNoise = (pcm: Int16Array, belowDb: number): Int16Array => {
  let power = 0
  for (const sample of pcm) power += sample ** 2 / pcm.length
  const peak = Math.sqrt(3 * power) * 10 ** (-belowDb / 20)
  let state = 1
  return pcm.map((sample) => {
    state = (state * 48_271) % 2_147_483_647
    return Math.max(-32_768, Math.min(32_767, sample + peak * ((2 * state) / 2_147_483_647 - 1)))
  })
}
