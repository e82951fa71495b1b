import { execFileSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Stream } from "effect"
import { Encoders, ffmpegPoolDefaults, formatNamed } from "#speech/audio"
import { Metrics } from "#runtime"
import { eventually } from "../../../../../dev/fixtures/eventually.ts"

const audio = (options: Partial<typeof ffmpegPoolDefaults> = {}) =>
  Encoders.layer({ ...ffmpegPoolDefaults, lameProcessesMax: 0, ...options }).pipe(Layer.provideMerge(Metrics.layerTest))

const slowFfmpeg = new URL("slow-ffmpeg.sh", import.meta.url).pathname
const cold = { defaultDepth: 0, depthMax: 0 }

const encode = <E>(name: string, pcm: Stream.Stream<Int16Array, E>) =>
  Stream.unwrap(
    Effect.map(Encoders, (encoders) => {
      const format = formatNamed(name)
      assert.isDefined(format)
      return encoders.encode(format, pcm)
    })
  )

const second = Int16Array.from({ length: 24_000 }, (_, at) => 9_000 * Math.sin(at / 4))
const endless = Stream.fromEffectRepeat(Effect.succeed(second))

/** ffmpeg processes of this one. */
const children = () =>
  execFileSync("ps", ["-A", "-o", "ppid=,stat=,comm="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/u))
    .filter(([parent, state, command]) => Number(parent) === process.pid && state !== "Z" && command === "ffmpeg")
    .length

const metric = (name: string, encoder: string) =>
  Effect.gen(function* () {
    const text = yield* (yield* Metrics).text
    const lines = text.split("\n").filter((one) => one.startsWith(`${name}{`) && one.includes(`encoder="${encoder}"`))
    return lines.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0)
  })

describe("the encoder pool", () => {
  it.live("ends its encoders when it closes", () =>
    Effect.gen(function* () {
      yield* Effect.provide(
        Effect.gen(function* () {
          yield* Stream.runDrain(encode("mp3_24000_64", Stream.make(second)))
          yield* eventually(children, { is: (count) => count > 0 })
        }),
        audio()
      )
      yield* eventually(children, { is: 0 })
    })
  )

  it.live("has an encoder ready before the first request, and again after each", () =>
    Effect.gen(function* () {
      const started = metric("audio_encoder_start_seconds_count", "mp3_24000_64")
      yield* eventually(started, { is: (count) => count >= 1 })
      assert.strictEqual(children(), 1)
      for (let answer = 0; answer < 5; answer++) {
        yield* Stream.runDrain(encode("mp3_24000_64", Stream.make(second)))
      }
      assert.strictEqual(yield* metric("audio_encoder_misses_total", "mp3_24000_64"), 0)
      assert.strictEqual(yield* metric("audio_encoders_running", "mp3_24000_64"), 0)
      assert.isAtLeast(yield* metric("audio_encoder_start_seconds_count", "mp3_24000_64"), 1)
      yield* eventually(children, { is: (count) => count <= 2 })
    }).pipe(Effect.provide(audio()))
  )

  it.live.each([
    ["mp3_24000_64", "mp3_24000_64"],
    ["ogg_24000", "opus_24000_48"],
    ["aac_24000", "aac_24000_64"]
  ] as const)("kills an encoder whose reader stops: %s", ([name, encoder]) =>
    Effect.gen(function* () {
      const [first] = yield* Stream.runCollect(Stream.take(encode(name, endless), 1))
      assert.isAbove(first?.length ?? 0, 0)
      yield* eventually(children, { is: 0 })
      assert.strictEqual(yield* metric("audio_encoders_running", encoder), 0)
    }).pipe(Effect.provide(audio(cold)))
  )

  it.live("kills an encoder when its reader is interrupted while the source is silent", () =>
    Effect.gen(function* () {
      const silent = Stream.concat(Stream.make(second), Stream.fromEffect(Effect.never))
      const reader = yield* Effect.forkChild(Stream.runDrain(encode("mp3_24000_64", silent)))
      yield* eventually(children, { is: 1 })
      yield* Fiber.interrupt(reader)
      yield* eventually(children, { is: 0 })
    }).pipe(Effect.provide(audio(cold)))
  )

  it.live("kills an encoder when its source fails, and the answer fails with the same error", () =>
    Effect.gen(function* () {
      const source = Stream.concat(Stream.make(second), Stream.fail("no more voice"))
      const error = yield* Effect.flip(Stream.runDrain(encode("mp3_24000_64", source)))
      assert.strictEqual(error, "no more voice")
      yield* eventually(children, { is: 0 })
    }).pipe(Effect.provide(audio(cold)))
  )

  it.live("takes no more than a few seconds from its source ahead of a reader that pauses", () =>
    Effect.gen(function* () {
      const bytesPerSecond = 8_000
      let [takenSeconds, readSeconds] = [0, 0]
      const source = Stream.fromEffectRepeat(Effect.sync(() => ((takenSeconds += 1), second)))
      // The frame with the delay, and the first frames of the answer.
      yield* Stream.runForEach(Stream.take(encode("mp3_24000_64", source), 2), ({ length }) => {
        readSeconds += length / bytesPerSecond
        return Effect.sleep("500 millis")
      })
      // Two seconds ahead, and the one in hand.
      assert.isAtMost(takenSeconds - readSeconds, 3.5)
    }).pipe(Effect.provide(audio()))
  )

  it.live("gives the first bytes before the source has ended", () =>
    Effect.gen(function* () {
      for (const name of ["mp3_24000_64", "mp3_22050_32", "ogg_24000", "aac_24000"]) {
        const silent = Stream.concat(Stream.make(second.subarray(0, 6_000)), Stream.fromEffect(Effect.never))
        yield* Stream.runDrain(Stream.take(encode(name, silent), 1))
      }
    }).pipe(Effect.provide(audio()))
  )

  it.live("queues answers when the maximum of encoders runs", () =>
    Effect.gen(function* () {
      const answers = Array.from({ length: 6 }, () => Stream.runCollect(encode("mp3_24000_64", Stream.make(second))))
      const all = yield* Effect.all(answers, { concurrency: "unbounded" })
      assert.isTrue(all.every((answer) => answer.length > 0))
      yield* eventually(children, { is: (count) => count <= 2 })
    }).pipe(Effect.provide(audio({ processesMax: 2, waitMsMax: 20_000 })))
  )

  it.live("ends an idle encoder to start one of another kind", () =>
    Effect.gen(function* () {
      yield* eventually(children, { is: 1 })
      yield* Stream.runDrain(encode("aac_24000", Stream.make(second)))
      yield* eventually(children, { is: (count) => count <= 1 })
    }).pipe(Effect.provide(audio({ processesMax: 1 })))
  )
})

describe("an answer without an encoder", () => {
  it.live("fails as overloaded when all encoders are busy for too long", () =>
    Effect.gen(function* () {
      const busy = Stream.concat(Stream.make(second), Stream.fromEffect(Effect.never))
      yield* Effect.forkChild(Stream.runDrain(encode("mp3_24000_64", busy)))
      yield* eventually(metric("audio_encoders_running", "mp3_24000_64"), { is: 1 })
      const error = yield* Effect.flip(Stream.runDrain(encode("mp3_24000_64", Stream.make(second))))
      assert.strictEqual(error._tag, "EncoderOverloaded")
      assert.strictEqual(yield* metric("audio_encoder_failures_total", "mp3_24000_64"), 1)
    }).pipe(Effect.provide(audio({ ...cold, processesMax: 1, waitMsMax: 100 })))
  )

  it.live("waits for slowly starting encoders, because a slow start is not overload", () =>
    Effect.gen(function* () {
      // Each is silent for a while before it is one; more than may start at once.
      const answers = Array.from({ length: 5 }, () => Stream.runCollect(encode("mp3_24000_64", Stream.make(second))))
      const all = yield* Effect.all(answers, { concurrency: "unbounded" })
      assert.isTrue(all.every((answer) => answer.length > 0))
      assert.strictEqual(yield* metric("audio_encoder_failures_total", "mp3_24000_64"), 0)
    }).pipe(Effect.provide(audio({ ...cold, ffmpegPath: slowFfmpeg, waitMsMax: 100 })))
  )

  it.live("fails without ffmpeg, and names the package to install", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain(encode("ogg_24000", Stream.make(second))))
      assert.strictEqual(error._tag, "FfmpegMissing")
      assert.match(error.message, /apt-get install ffmpeg/u)
    }).pipe(Effect.provide(audio({ ffmpegPath: "/nowhere/ffmpeg" })))
  )

  it.live("fails with the code and the last words of a broken encoder", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Stream.runDrain(encode("mp3_24000_64", endless)))
      assert.strictEqual(error._tag, "EncoderFailed")
      if (error._tag === "EncoderFailed") assert.strictEqual(error.exitCode, 1)
    }).pipe(Effect.provide(audio({ ffmpegPath: "false" })))
  )
})
