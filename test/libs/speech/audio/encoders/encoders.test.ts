import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { Encoders, formatNamed, paddedSamples, wavHeader } from "#speech/audio"
import { FfmpegPool } from "../../../../../libs/speech/audio/encoders/pool.ts"
import { pcmFromBytes } from "../../../../../libs/speech/audio/samples.ts"
import { decodeAlaw, decodeMulaw } from "../../../../support/g711.ts"

const encoders = Encoders.layerNoDeps.pipe(
  Layer.provide(Layer.succeed(FfmpegPool, { take: () => Effect.die("these formats need no ffmpeg") }))
)

const formatOf = (name: string) => {
  const format = formatNamed(name)
  assert.isDefined(format)
  return format
}

const pcm = Int16Array.from({ length: 5_000 }, (_, at) => 8_000 * Math.sin(at / 9))

const encode = <E>(name: string, pieces: Stream.Stream<Int16Array, E>) =>
  Effect.gen(function* () {
    const { encode } = yield* Encoders
    return yield* Stream.runCollect(encode(formatOf(name), pieces))
  }).pipe(Effect.provide(encoders))

const halves = Stream.make(pcm.subarray(0, 1_234), new Int16Array(0), pcm.subarray(1_234))

describe("answers in formats that need no encoder", () => {
  it.effect("pass the fleet's own PCM through", () =>
    Effect.gen(function* () {
      const bytes = Buffer.concat(yield* encode("pcm_24000", halves))
      assert.deepStrictEqual(pcmFromBytes(bytes), pcm)
    })
  )

  it.effect.each(["pcm_8000", "pcm_16000", "pcm_22050", "pcm_44100", "pcm_48000", "ulaw_8000", "alaw_8000"])(
    "last as long as announced: %s",
    (name) =>
      Effect.gen(function* () {
        const bytes = Buffer.concat(yield* encode(name, halves))
        const decoders = { ulaw_8000: decodeMulaw, alaw_8000: decodeAlaw }
        const samples = (decoders[name as keyof typeof decoders] ?? pcmFromBytes)(bytes)
        const { sampleRateHz } = formatOf(name)
        assert.strictEqual(samples.length, (paddedSamples(formatOf(name), pcm.length) * sampleRateHz) / 24_000)
      })
  )

  it.effect("are a WAV with its true size, once all samples are there", () =>
    Effect.gen(function* () {
      const [header, ...data] = yield* encode("wav_48000", halves)
      assert.deepStrictEqual(header, wavHeader(48_000, 20_000))
      assert.strictEqual(Buffer.concat(data).length, 20_000)
    })
  )

  it.effect("are nothing, or an empty WAV, when there are no samples", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* encode("pcm_8000", Stream.empty), [])
      assert.deepStrictEqual(yield* encode("wav_24000", Stream.empty), [wavHeader(24_000, 0)])
    })
  )

  it.effect("fail with the error of their source, after the samples before it", () =>
    Effect.gen(function* () {
      const { encode } = yield* Encoders
      const seen: Array<number> = []
      const source = Stream.concat(Stream.make(pcm), Stream.fail("no more voice"))
      const error = yield* Effect.flip(
        Stream.runForEach(encode(formatOf("pcm_24000"), source), (bytes) => Effect.sync(() => seen.push(bytes.length)))
      )
      assert.strictEqual(error, "no more voice")
      assert.deepStrictEqual(seen, [10_000])
    }).pipe(Effect.provide(encoders))
  )

  it.effect("give each piece of sound before they take the next one", () =>
    Effect.gen(function* () {
      const { encode } = yield* Encoders
      let taken = 0
      const source = Stream.fromEffectRepeat(Effect.sync(() => ((taken += 1), pcm)))
      yield* Stream.runDrain(Stream.take(encode(formatOf("ulaw_8000"), source), 3))
      assert.strictEqual(taken, 3)
    }).pipe(Effect.provide(encoders))
  )
})
