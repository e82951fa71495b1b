import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  adtsShape,
  makeFrameCutter,
  mp3FrameBytes,
  mp3InfoFrame,
  oggOpusShape
} from "../../../../../libs/speech/audio/encoders/frames.ts"

const adtsFrame = (length: number, content: number) => {
  const frame = new Uint8Array(length).fill(content)
  frame.set([0xff, 0xf1, 0x58, 0x40, length >> 3, (length & 7) << 5, 0xfc])
  frame[3] = 0x40 | (length >> 11)
  return frame
}

const frames = Array.from({ length: 12 }, (_, index) => adtsFrame(20 + index * 7, index))
const all = Buffer.concat(frames)

const Cuts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })))

describe("the frames of a lossy encoder", () => {
  it.prop("leave whole, those of the window alone, for any cut of the input", [Cuts], ([cuts]) => {
    const cutter = makeFrameCutter(adtsShape)
    cutter.letOut(3, 9)
    const out: Array<Uint8Array> = []
    let at = 0
    for (const size of [...cuts, all.length]) {
      const piece = cutter.push(new Uint8Array(all.subarray(at, at + size)))
      assert.isNotNull(piece)
      out.push(piece)
      at += size
    }
    assert.deepStrictEqual(Buffer.concat(out), Buffer.concat(frames.slice(3, 9)))
    assert.strictEqual(cutter.framesSeen(), 12)
    assert.strictEqual(cutter.samplesSeen(), 12 * 1_024)
    assert.strictEqual(cutter.samplesPassed(), 6 * 1_024)
  })

  it("leave with the byte that completes them", () => {
    const cutter = makeFrameCutter(adtsShape)
    assert.strictEqual(cutter.push(adtsFrame(40, 1).subarray(0, 39))?.length, 0)
    assert.strictEqual(cutter.push(adtsFrame(40, 1).subarray(39))?.length, 40)
  })

  it("are refused where other bytes stand", () =>
    assert.isNull(makeFrameCutter(adtsShape).push(new Uint8Array(50).fill(7))))

  it("of Ogg are pages, counted by their packets", () => {
    const page = new Uint8Array(27 + 3 + 300)
    page.set(new TextEncoder().encode("OggS"))
    page.set([3, 255, 20, 25], 26)
    assert.strictEqual(oggOpusShape.lengthBytes(page, 0), page.length)
    assert.strictEqual(oggOpusShape.samples(page, 0), 960)
  })
})

describe("the first frame of an mp3", () => {
  const header = Uint8Array.of(0xff, 0xf3, 0x82, 0xc4, 1, 2, 3)

  it("is as long as its header announces, and leaves its source unchanged", () => {
    const frame = mp3InfoFrame(header, 623)
    assert.strictEqual(frame.length, mp3FrameBytes(frame, 0))
    assert.strictEqual(frame.length, 208)
    assert.strictEqual(header[2], 0x82)
  })

  it("announces the encoder's delay where decoders read it", () => {
    const frame = mp3InfoFrame(Buffer.from(header), 623)
    assert.strictEqual(Buffer.from(frame.subarray(13, 17)).toString(), "Info")
    assert.strictEqual(((frame[46] ?? 0) << 4) | ((frame[47] ?? 0) >> 4), 623)
  })

  it("of MPEG-1 has its tag behind more side information", () => {
    // 44,100 Hz, 64 kbit/s, mono, padded.
    const header44 = Uint8Array.of(0xff, 0xfb, 0x52, 0xc4)
    assert.strictEqual(mp3FrameBytes(header44, 0), 209)
    const frame = mp3InfoFrame(header44, 623)
    assert.strictEqual(frame.length, 208)
    assert.strictEqual(Buffer.from(frame.subarray(21, 25)).toString(), "Info")
    assert.strictEqual(((frame[54] ?? 0) << 4) | ((frame[55] ?? 0) >> 4), 623)
  })
})
