import { assert, describe, it } from "@effect/vitest"
import { addPeaks, bytesOfBase64, sampleReader, wavOf } from "../../../../page/screens/speech/pcm.ts"

describe("PCM that comes in pieces", () => {
  it("is the same samples however it is cut", () => {
    const samples = [0, 1, -1, 32_767, -32_768, 258]
    const bytes = new Uint8Array(Int16Array.from(samples).buffer)
    for (let cut = 0; cut <= bytes.length; cut++) {
      const read = sampleReader()
      assert.deepStrictEqual([...read(bytes.subarray(0, cut)), ...read(bytes.subarray(cut))], samples, `cut at ${cut}`)
    }
  })

  it("is read from base64", () => {
    assert.deepStrictEqual(bytesOfBase64(Buffer.from([0, 255, 16]).toString("base64")), Uint8Array.of(0, 255, 16))
  })

  it("gives the same peaks however it is cut", () => {
    const whole: Array<number> = []
    addPeaks(whole, Int16Array.of(0, 16_384, -32_768, 0, 8_192), { before: 0, stretch: 2 })
    assert.deepStrictEqual(whole, [0.5, 1, 0.25])
    const cut: Array<number> = []
    addPeaks(cut, Int16Array.of(0, 16_384, -32_768), { before: 0, stretch: 2 })
    addPeaks(cut, Int16Array.of(0, 8_192), { before: 3, stretch: 2 })
    assert.deepStrictEqual(cut, whole)
  })
})

describe("a WAV file", () => {
  it("says its rate and its length, and holds the samples of all parts", () => {
    const file = Buffer.from(wavOf([Int16Array.of(1, 2), Int16Array.of(-3)], 24_000))
    assert.strictEqual(file.toString("latin1", 0, 4) + file.toString("latin1", 8, 16), "RIFFWAVEfmt ")
    assert.deepStrictEqual([file.readUInt32LE(4), file.readUInt32LE(24), file.readUInt32LE(40)], [42, 24_000, 6])
    assert.deepStrictEqual(
      [44, 46, 48].map((at) => file.readInt16LE(at)),
      [1, 2, -3]
    )
  })
})
