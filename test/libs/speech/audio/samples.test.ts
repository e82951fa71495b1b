import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  concatPcm,
  crossFade,
  encodeAlaw,
  encodeMulaw,
  pcmFromBytes,
  pcmToBytes,
  wavHeader
} from "../../../../libs/speech/audio/samples.ts"
import { decodeAlaw, decodeMulaw } from "../../../support/g711.ts"

const Sample = Schema.Int.check(Schema.isBetween({ minimum: -32_768, maximum: 32_767 }))

describe("mu-law", () => {
  it.each([
    [0, 0xff],
    [-1, 0x7f],
    [32_767, 0x80],
    [-32_768, 0x00],
    [1_000, 0xce]
  ])("writes %i as the standard does", (sample, byte) =>
    assert.strictEqual(encodeMulaw(Int16Array.of(sample))[0], byte)
  )

  it("decodes and encodes to the same bytes", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    const again = encodeMulaw(decodeMulaw(all))
    // There are two zeros.
    assert.deepStrictEqual([...again].toSpliced(0x7f, 1), [...all].toSpliced(0x7f, 1))
  })

  it.prop("is off by at most a sixteenth", [Sample], ([sample]) => {
    const back = decodeMulaw(encodeMulaw(Int16Array.of(sample)))[0] ?? 0
    assert.isAtMost(Math.abs(back - sample), 4 + Math.abs(sample) / 16)
  })
})

describe("A-law", () => {
  it.each([
    [0, 0xd5],
    [-1, 0x55],
    [32_767, 0xaa],
    [-32_768, 0x2a],
    [512, 0xf5],
    [1_000, 0xfa]
  ])("writes %i as the standard does", (sample, byte) => assert.strictEqual(encodeAlaw(Int16Array.of(sample))[0], byte))

  it("decodes and encodes to the same bytes", () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte)
    assert.deepStrictEqual(encodeAlaw(decodeAlaw(all)), all)
  })

  it.prop("is off by at most a thirty-second, or by a step of the smallest", [Sample], ([sample]) => {
    const back = decodeAlaw(encodeAlaw(Int16Array.of(sample)))[0] ?? 0
    assert.isAtMost(Math.abs(back - sample), 8 + Math.abs(sample) / 32)
  })
})

describe("PCM samples", () => {
  it("are little endian bytes, at any offset", () => {
    assert.deepStrictEqual([...pcmToBytes(Int16Array.of(1, -2))], [1, 0, 254, 255])
    assert.deepStrictEqual([...pcmFromBytes(Uint8Array.of(9, 1, 0, 254, 255, 7).subarray(1))], [1, -2])
    assert.deepStrictEqual([...pcmFromBytes(Buffer.from([9, 1, 0, 254, 255]).subarray(1))], [1, -2])
  })

  it("of the same sound cross-fade into themselves unchanged", () => {
    const sound = Int16Array.from({ length: 120 }, (_, at) => 9_000 * Math.sin(at / 5))
    assert.deepStrictEqual(crossFade(sound, sound), sound)
  })

  it("cross-fade from one to the other", () =>
    assert.deepStrictEqual([...crossFade(Int16Array.of(400, 400, 400), Int16Array.of(0, 0, 0, 0))], [300, 200, 100]))

  it("are joined in order", () =>
    assert.deepStrictEqual([...concatPcm([Int16Array.of(1), Int16Array.of(), Int16Array.of(2, 3)])], [1, 2, 3]))
})

describe("a WAV header", () => {
  it("holds the true sizes", () => {
    const view = new DataView(wavHeader(24_000, 1_000).buffer)
    assert.strictEqual(view.byteLength, 44)
    assert.strictEqual(view.getUint32(4, true), 1_036)
    assert.strictEqual(view.getUint32(24, true), 24_000)
    assert.strictEqual(view.getUint32(28, true), 48_000)
    assert.strictEqual(view.getUint32(40, true), 1_000)
  })
})
