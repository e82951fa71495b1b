import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { type AudioFormat, audioFormats, Encoders, ffmpegPoolDefaults, paddedSamples } from "#speech/audio"
import { Metrics } from "#runtime"
import { pcmFromBytes } from "../../../../../libs/speech/audio/samples.ts"
import { decodeAll } from "../../../../support/ffmpeg.ts"
import { decodeAlaw, decodeMulaw } from "../../../../support/g711.ts"

// One encoder at a time, none started ahead: all answers of a format but the first go through one that was used before.
const encoders = Encoders.layer({ ...ffmpegPoolDefaults, processesMax: 1, defaultDepth: 0 }).pipe(
  Layer.provide(Metrics.layerTest)
)

/** Encoders in other processes. */
class OtherEncoders extends Context.Service<OtherEncoders, Encoders["Service"]>()("test/OtherEncoders") {
  static readonly layer = Layer.effect(OtherEncoders, Encoders).pipe(Layer.provide(Layer.fresh(encoders)))
}

const toneHz = 1_000
const onsetMs = 100

/** Silence, then a tone from a known sample to the end. */
const burst = (samples: number) =>
  Int16Array.from({ length: samples }, (_, at) =>
    at < onsetMs * 24 ? 0 : 12_000 * Math.sin((2 * Math.PI * toneHz * (at - onsetMs * 24)) / 24_000)
  )

const pieces = (pcm: Int16Array, size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(pcm.length / size) }, (_, at) => pcm.subarray(at * size, (at + 1) * size))
  )

const encoded = Effect.fnUntraced(function* (format: AudioFormat, pcm: Int16Array, size: number) {
  const { encode } = yield* Encoders
  return Buffer.concat(yield* Stream.runCollect(encode(format, pieces(pcm, size))))
})

interface Decoded {
  readonly samples: Int16Array
  readonly rateHz: number
}

/** As a player hears each of them. */
const decodeEach = (format: AudioFormat, answers: ReadonlyArray<Buffer>) =>
  Effect.map(samplesOf(format, answers), (all) => all.map((samples): Decoded => ({ samples, rateHz: rateOf(format) })))

const samplesOf = (format: AudioFormat, answers: ReadonlyArray<Buffer>) => {
  if (format.codec === "pcm") return Effect.succeed(answers.map(pcmFromBytes))
  if (format.codec === "alaw") return Effect.succeed(answers.map(decodeAlaw))
  if (format.codec === "ulaw") return Effect.succeed(answers.map(decodeMulaw))
  return Effect.promise(() => decodeAll(answers.map((bytes) => ({ bytes }))))
}

const rateOf = (format: AudioFormat) => (format.codec === "opus" ? 48_000 : format.sampleRateHz)

/** The point where the energy of one period has risen to half of its final value: half a period into the tone. */
const onsetOf = ({ samples, rateHz }: Decoded) => {
  const period = Math.round(rateHz / toneHz)
  const energy = (from: number, length: number) =>
    samples.subarray(from, from + length).reduce((sum, sample) => sum + sample * sample, 0) / length
  const full = energy(Math.round((onsetMs + 40) * (rateHz / 1_000)), period * 20)
  let at = 0
  while (at < samples.length && energy(at, period) < full / 2) at += 1
  return ((at + period / 2) * 1_000) / rateHz
}

layer(Layer.merge(encoders, OtherEncoders.layer), { excludeTestServices: true })("an answer in any format", (it) => {
  it.effect.each(audioFormats)("decodes to the announced length, with every sound at its time: $name", (format) =>
    Effect.gen(function* () {
      const lengths = [6_000, 24_000, 24_001, 50_003, 24_000 * 6 + 17]
      const answers = yield* Effect.forEach(lengths, (samples) => encoded(format, burst(samples), 1_111))
      const sounds = yield* decodeEach(format, answers)
      for (const [at, decoded] of sounds.entries()) {
        const samples = lengths[at] ?? Number.NaN
        const lengthMs = (decoded.samples.length * 1_000) / decoded.rateHz
        assert.isBelow(Math.abs(lengthMs - paddedSamples(format, samples) / 24), 0.1, `length of ${samples}`)
        assert.isBelow(Math.abs(onsetOf(decoded) - onsetMs), 0.5, `onset of ${samples}`)
      }
    })
  )

  it.effect.each(audioFormats)(
    "has the same bytes for any cut of its PCM, and after any other answer: $name",
    (format) =>
      Effect.gen(function* () {
        const pcm = burst(30_000)
        const first = yield* encoded(format, pcm, 100)
        yield* encoded(format, burst(50_003), 7_000)
        const again = yield* encoded(format, pcm, 1_111)
        const fromAnotherProcess = yield* Effect.provideService(
          encoded(format, pcm, 30_000),
          Encoders,
          yield* OtherEncoders
        )
        assert.isTrue(first.equals(again))
        assert.isTrue(first.equals(fromAnotherProcess))
      })
  )

  it.effect.each(audioFormats)("may be of a single sample, or empty: $name", (format) =>
    Effect.gen(function* () {
      const [decoded] = yield* decodeEach(format, [yield* encoded(format, Int16Array.of(1), 1)])
      assert.isAbove(decoded?.samples.length ?? 0, 0)
      yield* encoded(format, new Int16Array(0), 1)
    })
  )

  // Encoders run in on up to two seconds of silence, which no listener hears.
  it.effect.each(audioFormats)("tells its listener how much sound it has got, and not a frame more: $name", (format) =>
    Effect.gen(function* () {
      const { encode } = yield* Encoders
      for (const samples of [24_000, 50_003]) {
        let got = 0
        const listener = { got: (seconds: number) => (got += seconds), bufferedMs: () => 0, isPlaying: () => true }
        yield* Stream.runDrain(encode(format, pieces(burst(samples), 1_111), listener))
        assert.isBelow(Math.abs(got - samples / 24_000), 0.1, `${samples} samples`)
      }
    })
  )

  it.effect.each(["mp3_24000_64", "mp3_44100_64", "aac_24000"])("holds nothing of the previous answer: %s", (name) =>
    Effect.gen(function* () {
      const format = audioFormats.find((one) => one.name === name)
      assert.isDefined(format)
      const loudThenQuiet = Effect.andThen(
        encoded(format, burst(20_000), 5_000),
        encoded(format, new Int16Array(20_000), 5_000)
      )
      for (const quiet of yield* decodeEach(format, yield* Effect.replicateEffect(loudThenQuiet, 5))) {
        assert.isTrue(quiet.samples.every((sample) => Math.abs(sample) <= 1))
      }
    })
  )
})
