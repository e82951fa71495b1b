/** Recordings for tests: a voice's speech, as the bytes of a container; and files that are no recordings. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Stream } from "effect"
import { concatPcm, pcmToBytes, type RecordingLimits } from "#speech/audio"
import { Metrics, Role } from "#runtime"
import { embedded, engineVoice, voiceById } from "#speech"

export const metrics = Metrics.layerTest.pipe(Layer.provide(Layer.succeed(Role, "speech-api")))

export const anyLength: RecordingLimits = {
  name: "recording",
  secondsMin: 0.1,
  secondsMax: 60,
  silenceRatioMax: 1,
  clippingRatioMax: 1
}

export const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "starling-test-recordings-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** 24,000 Hz, by one of flite's people: `kal`, `alan`, `roger`, `selma`. */
export const speech = (people: ReadonlyArray<readonly [id: string, text: string]>) =>
  Effect.gen(function* () {
    const flite = yield* embedded.flite.open()
    return yield* Effect.forEach(people, ([id, text]) => {
      const shared = voiceById(id)
      const voice = shared === undefined ? undefined : engineVoice(shared, shared.locale)
      if (voice === undefined) return Effect.die(`there is no ${id}`)
      const piece = { text, ratePercent: 100, pitchPercent: 100, rangePercent: 100, volumeDb: 0 }
      return Effect.map(Stream.runCollect(flite.synthesize({ voice, pieces: [piece] })), (frames) =>
        concatPcm(frames.map(({ pcm }) => pcm))
      )
    })
  }).pipe(Effect.scoped, Effect.provide(metrics))

export const tone = (seconds: number, size = 9_000): Int16Array =>
  Int16Array.from({ length: seconds * 24_000 }, (_, at) =>
    Math.max(-32_768, Math.min(32_767, size * Math.sin(at / 7) * (1.2 + Math.sin(at / 3_000))))
  )

const ffmpeg = (parameters: ReadonlyArray<string>, input: Uint8Array = new Uint8Array()) =>
  Effect.callback<void>((resume) => {
    const child = execFile("ffmpeg", ["-v", "error", "-y", ...parameters], (error) =>
      resume(error === null ? Effect.void : Effect.die(error))
    )
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(input)
  })

/** Writes 24,000 Hz PCM as the container that the path's end names. */
export const writeRecording = (path: string, pcm: Int16Array, parameters: ReadonlyArray<string> = []) =>
  writeRecordings(pcm, [{ path, parameters }])

/** Writes the same sound as several files with one start of ffmpeg, each with its parameters. */
export const writeRecordings = (
  pcm: Int16Array,
  files: ReadonlyArray<{ readonly path: string; readonly parameters: ReadonlyArray<string> }>
) => {
  const outputs = files.flatMap(({ path, parameters }) => [...parameters, path])
  return ffmpeg(["-f", "s16le", "-ar", "24000", "-ac", "1", "-i", "pipe:0", ...outputs], pcmToBytes(pcm))
}

/** Has ffmpeg make files that no recorder makes. */
export const writeMedia = (path: string, parameters: ReadonlyArray<string>) => ffmpeg([...parameters, path])
