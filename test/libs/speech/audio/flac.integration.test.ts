import { assert, describe, it } from "@effect/vitest"
import { makeFlacEncoder } from "../../../../libs/speech/audio/flac.ts"
import { decodeAll } from "../../../support/ffmpeg.ts"

/** By a decoder that checks every checksum, and the frames' numbers. */
const decode = (files: ReadonlyArray<Buffer>) =>
  decodeAll(files.map((bytes) => ({ bytes, input: ["-err_detect", "crccheck+explode", "-f", "flac"] })))

const encode = (pcm: Int16Array, rateHz: number, size: number) => {
  const encoder = makeFlacEncoder(rateHz)
  const parts: Array<Uint8Array> = []
  for (let at = 0; at < pcm.length; at += size) parts.push(encoder.push(pcm.subarray(at, at + size)))
  return Buffer.concat([...parts, encoder.end()])
}

// The same noise in every run.
let seed = 1
const noise = () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed / 2 ** 31 - 1
}

const sounds = {
  silence: () => 0,
  "a constant": () => -7,
  "a tone": (at: number) => 12_000 * Math.sin(at / 9) + 300 * Math.sin(at / 2.1),
  "a soft tone in noise": (at: number) => 500 * Math.sin(at / 30) + 40 * noise(),
  "noise at full scale": () => 32_767 * noise(),
  "the largest steps": (at: number) => (at % 2 === 0 ? 32_767 : -32_768),
  "bursts between silences": (at: number) => (at % 5_000 < 300 ? 20_000 * noise() : 0)
}

describe("FLAC", () => {
  it.each(Object.entries(sounds))("gives back every sample of %s, however long", async (_name, sound) => {
    const lengths = [1, 2, 5, 1_151, 1_152, 1_153, 60_017]
    const sounds = lengths.map((length) => Int16Array.from({ length }, (_, at) => sound(at)))
    for (const rateHz of [24_000, 48_000]) {
      assert.deepStrictEqual(await decode(sounds.map((pcm) => encode(pcm, rateHz, 1_111))), sounds)
    }
  })

  it("numbers its frames past those of one and of two bytes", async () => {
    const pcm = Int16Array.from({ length: 1_152 * 2_100 }, (_, at) => 3_000 * Math.sin(at / 40))
    assert.deepStrictEqual(await decode([encode(pcm, 24_000, 50_000)]), [pcm])
  })

  it("has the same bytes for any cut of its samples", () => {
    const pcm = Int16Array.from({ length: 9_000 }, (_, at) => sounds["a tone"](at))
    const [one, many] = [encode(pcm, 24_000, 9_000), encode(pcm, 24_000, 7)]
    assert.isTrue(one.equals(many))
  })

  it("lets a block out with its last sample", () => {
    const encoder = makeFlacEncoder(24_000)
    encoder.push(Int16Array.from({ length: 1_151 }, (_, at) => at))
    assert.isAbove(encoder.push(Int16Array.of(1)).length, 10)
  })

  it("is smaller than PCM, and hardly larger where nothing can be saved", () => {
    const tone = Int16Array.from({ length: 50_000 }, (_, at) => sounds["a tone"](at))
    assert.isBelow(encode(tone, 24_000, 5_000).length, tone.byteLength / 2)
    const loud = Int16Array.from({ length: 50_000 }, () => sounds["noise at full scale"]())
    assert.isBelow(encode(loud, 24_000, 5_000).length, loud.byteLength * 1.01)
  })

  it("of no samples is its header alone", () => assert.lengthOf(makeFlacEncoder(24_000).end(), 42))
})
