/** Hostile files, as the real ffmpeg sees them. */
import { chmodSync, copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer } from "effect"
import { RecordingIntake, recordingIntakeDefaults } from "#speech/audio"
import { Metrics } from "#runtime"
import { decibels } from "../../engine/signal.ts"
import { runningWith } from "../../../../support/child-processes.ts"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"
import {
  anyLength,
  folder,
  metrics,
  tone,
  writeMedia,
  writeRecording,
  writeRecordings
} from "../../../../support/recordings.ts"

const intake = (options: Partial<typeof recordingIntakeDefaults> = {}) =>
  RecordingIntake.layer({ ...recordingIntakeDefaults, ...options }).pipe(Layer.provideMerge(metrics))

const read = (path: string, limits = anyLength) =>
  Effect.flatMap(RecordingIntake, (service) => service.readRecording(path, limits))

const refusal = (path: string, limits = anyLength) =>
  Effect.match(read(path, limits), {
    onSuccess: ({ seconds }) => `taken, ${seconds} s`,
    onFailure: (error) => (error._tag === "RecordingUnusable" ? error.reason : error._tag)
  })

const containers = [
  ["wav", []],
  ["flac", []],
  ["mp3", ["-b:a", "64k"]],
  ["aac", []],
  ["m4a", ["-c:a", "aac"]],
  ["m4a", ["-c:a", "alac"]],
  ["ogg", ["-c:a", "libvorbis"]],
  ["opus", ["-c:a", "libopus"]],
  ["webm", ["-c:a", "libopus"]],
  ["mka", ["-c:a", "pcm_s16le"]],
  ["aiff", []],
  ["caf", []],
  ["3gp", ["-c:a", "aac"]],
  ["wav", ["-c:a", "pcm_mulaw", "-ar", "8000"]],
  ["wav", ["-ac", "2", "-ar", "96000", "-c:a", "pcm_f32le"]]
] as const

/** The path of three seconds in each container. */
class Recordings extends Context.Service<Recordings, (container: (typeof containers)[number]) => string>()(
  "test/Recordings"
) {
  static readonly layer = Layer.effect(
    Recordings,
    Effect.gen(function* () {
      const at = yield* folder
      const pathOf = (container: (typeof containers)[number]) =>
        join(at, `recording-${containers.indexOf(container)}.${container[0]}`)
      yield* writeRecordings(
        tone(3),
        containers.map((container) => ({ path: pathOf(container), parameters: container[1] }))
      )
      return pathOf
    })
  )
}

layer(Layer.merge(Recordings.layer, intake()), { excludeTestServices: true })("a recording", (it) => {
  it.effect.each(containers)("is read from %s %o: mono, 16 kHz, with its length and its loudness", (container) =>
    Effect.gen(function* () {
      const { samples, seconds, levels } = yield* read((yield* Recordings)(container))

      assert.strictEqual(seconds, samples.length / 16_000)
      assert.approximately(seconds, 3, 0.15)
      // Two channels of the same sound are mixed 3 dB lower.
      assert.approximately(decibels(samples), -12.7, 2)
      assert.isBelow(levels.silenceRatio, 0.1)
    })
  )
})

describe("a recording", () => {
  it.live("is read from a video's sound", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "video.mp4")
      const sources = ["-f", "lavfi", "-i", "testsrc=d=3", "-f", "lavfi", "-i", "sine=d=3"]
      yield* writeMedia(path, [...sources, "-c:v", "mpeg4", "-c:a", "aac"])
      assert.approximately((yield* read(path)).seconds, 3, 0.1)
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )

  it.live("may have any name", () =>
    Effect.gen(function* () {
      const at = yield* folder
      yield* writeRecording(join(at, "recording.wav"), tone(1))
      for (const name of ["-y", "http:x", "%03d", "a b'\"$(id)\n.wav", "pipe:0", "subfile,,start,0,end,0,,:x"]) {
        copyFileSync(join(at, "recording.wav"), join(at, name))
        assert.approximately((yield* read(join(at, name))).seconds, 1, 0.01, name)
      }
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )

  it.live("that lasts for hours is decoded only up to its maximum", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "hours.flac")
      const minute = join(yield* folder, "minute.flac")
      yield* writeMedia(minute, ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono", "-t", "60", "-c:a", "flac"])
      // Its packets are copied: ten hours take seconds to encode.
      yield* writeMedia(path, ["-stream_loop", "599", "-i", minute, "-c", "copy"])
      const started = performance.now()
      assert.strictEqual(yield* refusal(path, { ...anyLength, secondsMax: 30 }), "too_long")
      assert.isBelow(performance.now() - started, 5_000)
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )

  it.live.each([
    ["too short", "too_short", tone(4), { secondsMin: 5 }],
    ["too long", "too_long", tone(31), { secondsMax: 30 }],
    ["silent", "silent", new Int16Array(24_000 * 6), { silenceRatioMax: 0.7 }],
    ["clipped", "clipped", tone(6, 200_000), { clippingRatioMax: 0.01 }]
  ] as const)("that is %s is refused as such", ([, reason, pcm, limits]) =>
    Effect.gen(function* () {
      const path = join(yield* folder, "recording.wav")
      yield* writeRecording(path, pcm)
      assert.strictEqual(yield* refusal(path, { ...anyLength, ...limits }), reason)
      const text = yield* (yield* Metrics).text
      assert.include(text, `audio_recordings_total{role="speech-api",outcome="${reason}"} 1`)
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )

  it.live.each([
    ["flac", [], "damaged"],
    ["m4a", ["-c:a", "aac"], "not_audio"],
    ["webm", ["-c:a", "libopus"], "damaged"],
    ["wav", [], "too_short"],
    ["opus", ["-c:a", "libopus"], "too_short"]
  ] as const)("with a missing end is refused: %s", ([extension, parameters, reason]) =>
    Effect.gen(function* () {
      const path = join(yield* folder, `recording.${extension}`)
      yield* writeRecording(path, tone(6), parameters)
      truncateSync(path, Math.floor(readFileSync(path).length / 3))
      assert.strictEqual(yield* refusal(path, { ...anyLength, secondsMin: 5 }), reason)
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )
})

describe("a file that is no recording", () => {
  it.live("is refused, whatever its content and its name", () =>
    Effect.gen(function* () {
      const at = yield* folder
      writeFileSync(join(at, "text.wav"), "Dear reader, this is a letter.\n".repeat(100))
      writeFileSync(join(at, "empty.wav"), "")
      writeFileSync(join(at, "zeros.mp3"), Buffer.alloc(100_000))
      writeFileSync(join(at, "page.ogg"), "<!doctype html><title>A page</title>".repeat(500))
      writeFileSync(join(at, "head.wav"), Buffer.from("RIFF\xff\xff\xff\xffWAVEfmt ", "latin1"))
      yield* writeMedia(join(at, "silent-movie.mp4"), ["-f", "lavfi", "-i", "testsrc=d=1", "-c:v", "mpeg4"])
      yield* writeMedia(join(at, "picture.png"), ["-f", "lavfi", "-i", "testsrc=d=1", "-frames:v", "1"])
      for (const name of [
        "text.wav",
        "empty.wav",
        "zeros.mp3",
        "page.ogg",
        "head.wav",
        "silent-movie.mp4",
        "picture.png"
      ]) {
        assert.include(["not_audio", "too_short"], yield* refusal(join(at, name)), name)
      }
      assert.strictEqual(yield* refusal(join(at, "nowhere.wav")), "not_audio")
      assert.strictEqual(yield* refusal(at), "not_audio")
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )

  it.live("does not reach our files by any reference", () =>
    Effect.gen(function* () {
      const at = yield* folder
      const secret = join(at, "secret.wav")
      const segment = join(at, "secret.ts")
      yield* writeRecording(secret, tone(3))
      yield* writeRecording(segment, tone(3), ["-c:a", "aac"])
      const playlist = (target: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n${target}\n#EXT-X-ENDLIST\n`
      const dash = `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static" mediaPresentationDuration="PT3S"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="1" bandwidth="1"><BaseURL>file://${secret}</BaseURL></Representation></AdaptationSet></Period></MPD>`
      const tricks: Readonly<Record<string, string>> = {
        "playlist.m3u8": playlist(segment),
        "playlist.wav": playlist(`file://${segment}`),
        "playlist.mp3": playlist(secret),
        "list.wav": `ffconcat version 1.0\nfile '${secret}'\n`,
        "list.mp4": `ffconcat version 1.0\nfile 'file:${secret}'\n`,
        "dash.mpd": dash,
        "dash.m4a": dash,
        "sdp.wav": "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n"
      }
      for (const [name, content] of Object.entries(tricks)) {
        writeFileSync(join(at, name), content)
        assert.strictEqual(yield* refusal(join(at, name)), "not_audio", name)
      }
      // Their targets are real audio, and without the fence one of them does play it.
      yield* writeMedia(join(at, "played.wav"), ["-allowed_extensions", "ALL", "-i", join(at, "playlist.m3u8")])
      assert.approximately((yield* read(join(at, "played.wav"))).seconds, 3, 0.2)
    }).pipe(Effect.scoped, Effect.provide(intake()))
  )
})

describe("reading a recording", () => {
  // Ours among those of everybody on the machine.
  const sleeper = `sleep 72.${process.pid}s`
  /** A program in place of ffmpeg that never ends. */
  const hanging = Effect.map(folder, (at) => {
    const path = join(at, "hanging-tool")
    writeFileSync(path, `#!/bin/sh\n${sleeper} & ${sleeper}\n`)
    chmodSync(path, 0o755)
    return path
  })
  const sleepers = () => runningWith(sleeper).length

  it.live("ends a hanging decoder with all its processes", () =>
    Effect.gen(function* () {
      const ffmpegPath = yield* hanging
      const limits = { ...recordingIntakeDefaults.limits, wallMsMax: 300 }
      const reason = yield* Effect.provide(refusal("/any"), intake({ ffmpegPath, limits }))
      assert.strictEqual(reason, "too_costly")
      yield* eventually(() => sleepers(), { is: 0 })
    }).pipe(Effect.scoped)
  )

  it.live("ends when the caller leaves, and frees its slot", () =>
    Effect.gen(function* () {
      const ffmpegPath = yield* hanging
      yield* Effect.gen(function* () {
        for (let time = 0; time < 2; time++) {
          const reading = yield* Effect.forkChild(read("/any"))
          yield* eventually(() => sleepers(), { is: 2 })
          yield* Fiber.interrupt(reading)
          yield* eventually(() => sleepers(), { is: 0 })
          assert.include(yield* (yield* Metrics).text, 'audio_recordings_reading{role="speech-api"} 0')
        }
      }).pipe(Effect.provide(intake({ ffmpegPath, readingMax: 1, waitingMax: 0 })))
    }).pipe(Effect.scoped)
  )

  it.live("waits behind others, and is refused at once when too many wait", () =>
    Effect.gen(function* () {
      const ffmpegPath = yield* hanging
      yield* Effect.gen(function* () {
        yield* Effect.forkChild(read("/any"))
        yield* Effect.forkChild(read("/any"))
        yield* eventually(() => sleepers(), { is: 2 })
        const error = yield* Effect.flip(read("/any"))
        assert.strictEqual(error._tag, "IntakeBusy")
        assert.strictEqual(sleepers(), 2)
      }).pipe(Effect.scoped, Effect.provide(intake({ ffmpegPath, readingMax: 1, waitingMax: 1 })))
    }).pipe(Effect.scoped)
  )

  it.live("names the package to install when ffmpeg is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read("/any"))
      assert.strictEqual(error._tag, "FfmpegMissing")
      assert.match(error.message, /apt-get install ffmpeg/u)
    }).pipe(Effect.provide(intake({ ffmpegPath: "/nowhere/ffmpeg" })))
  )
})
