import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { type AudioFormat, audioFormats, Encoders, paddedSamples } from "#audio"
import { Metrics } from "#runtime"
import { pcmFromBytes } from "../../../../libs/audio/samples.ts"
import { decodeAlaw, decodeMulaw } from "../../../support/g711.ts"

const encoders = Encoders.layer().pipe(Layer.provide(Metrics.layerTest))

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

/** A player's view of it: ffmpeg's decoders, or none for an empty file. */
const decode = (format: AudioFormat, bytes: Buffer): Decoded => {
  if (format.codec === "pcm") return { samples: pcmFromBytes(bytes), rateHz: format.sampleRateHz }
  if (format.codec === "alaw") return { samples: decodeAlaw(bytes), rateHz: format.sampleRateHz }
  if (format.codec === "ulaw") return { samples: decodeMulaw(bytes), rateHz: format.sampleRateHz }
  const { stdout, stderr } = spawnSync("ffmpeg", ["-v", "error", "-i", "pipe:0", "-f", "s16le", "pipe:1"], {
    input: bytes,
    maxBuffer: 1e9
  })
  assert.strictEqual(String(stderr), "")
  const rateHz = format.codec === "opus" ? 48_000 : format.sampleRateHz
  return { samples: pcmFromBytes(new Uint8Array(stdout)), rateHz }
}

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

describe("an answer in any format", () => {
  // One after the other, so that all but the first go through an encoder that was used before.
  it.live.each(audioFormats)("decodes to the announced length, with every sound at its time: $name", (format) =>
    Effect.gen(function* () {
      for (const samples of [6_000, 24_000, 24_001, 50_003, 24_000 * 6 + 17]) {
        const decoded = decode(format, yield* encoded(format, burst(samples), 1_111))
        const lengthMs = (decoded.samples.length * 1_000) / decoded.rateHz
        assert.isBelow(Math.abs(lengthMs - paddedSamples(format, samples) / 24), 0.1, `length of ${samples}`)
        assert.isBelow(Math.abs(onsetOf(decoded) - onsetMs), 0.5, `onset of ${samples}`)
      }
    }).pipe(Effect.provide(encoders))
  )

  it.live.each(audioFormats)("has the same bytes for any cut of its PCM, and after any other answer: $name", (format) =>
    Effect.gen(function* () {
      const pcm = burst(30_000)
      const first = yield* encoded(format, pcm, 100)
      yield* encoded(format, burst(50_003), 7_000)
      const again = yield* encoded(format, pcm, 1_111)
      const fromAnotherProcess = yield* Effect.provide(encoded(format, pcm, 30_000), Layer.fresh(encoders))
      assert.isTrue(first.equals(again))
      assert.isTrue(first.equals(fromAnotherProcess))
    }).pipe(Effect.provide(encoders))
  )

  it.live.each(audioFormats)("may be of a single sample, or empty: $name", (format) =>
    Effect.gen(function* () {
      const { length } = decode(format, yield* encoded(format, Int16Array.of(1), 1)).samples
      assert.isAbove(length, 0)
      yield* encoded(format, new Int16Array(0), 1)
    }).pipe(Effect.provide(encoders))
  )

  // Encoders run in on up to two seconds of silence, which no listener hears.
  it.live.each(audioFormats)("tells its listener how much sound it has got, and not a frame more: $name", (format) =>
    Effect.gen(function* () {
      const { encode } = yield* Encoders
      for (const samples of [24_000, 50_003]) {
        let got = 0
        const listener = { got: (seconds: number) => (got += seconds), storeMs: () => 0, isHeard: () => true }
        yield* Stream.runDrain(encode(format, pieces(burst(samples), 1_111), listener))
        assert.isBelow(Math.abs(got - samples / 24_000), 0.1, `${samples} samples`)
      }
    }).pipe(Effect.provide(encoders))
  )

  it.live.each(["mp3_24000_64", "mp3_44100_64", "aac_24000"])("holds nothing of the previous answer: %s", (name) =>
    Effect.gen(function* () {
      const format = audioFormats.find((one) => one.name === name)
      assert.isDefined(format)
      for (let answer = 0; answer < 5; answer++) {
        yield* encoded(format, burst(20_000), 5_000)
        const quiet = decode(format, yield* encoded(format, new Int16Array(20_000), 5_000))
        assert.isTrue(quiet.samples.every((sample) => Math.abs(sample) <= 1))
      }
    }).pipe(Effect.provide(encoders))
  )
})
