import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { concatPcm } from "#speech/audio"
import { makeStretcher } from "../../../../libs/speech/audio/stretch.ts"

const hz = 24_000

const stretched = (pcm: Int16Array, speed: number, step = pcm.length) => {
  const stretcher = makeStretcher(speed, hz)
  const parts: Array<Int16Array> = []
  for (let at = 0; at < pcm.length; at += Math.max(1, step))
    parts.push(stretcher.push(pcm.slice(at, at + Math.max(1, step))))
  return concatPcm([...parts, stretcher.flush()])
}

const tone = (hertz: number, seconds: number) =>
  Int16Array.from({ length: seconds * hz }, (_, at) => Math.round(10_000 * Math.sin((2 * Math.PI * hertz * at) / hz)))

/** Times that it rises through zero, in a second. */
const hertzOf = (pcm: Int16Array) => {
  let times = 0
  for (let at = 1; at < pcm.length; at++) if ((pcm[at - 1] ?? 0) < 0 && (pcm[at] ?? 0) >= 0) times += 1
  return (times * hz) / pcm.length
}

const rms = (pcm: Int16Array) => Math.sqrt(pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length)

describe("a stretched sound", () => {
  it("of a speed of 1 is the sound itself", () => {
    const pcm = tone(200, 0.1)
    assert.deepStrictEqual(stretched(pcm, 1, 100), pcm)
  })
  it.each([0.25, 0.5, 0.9, 1.2, 1.6, 3.2, 8])("keeps its pitch and its loudness at a speed of %d", (speed) => {
    for (const hertz of [95, 210, 440]) {
      const pcm = tone(hertz, 1)
      const made = stretched(pcm, speed)
      assert.strictEqual(made.length, Math.round(pcm.length / speed))
      assert.closeTo(hertzOf(made), hertz, 0.04 * hertz + hz / made.length)
      assert.closeTo(rms(made) / rms(pcm), 1, 0.06)
    }
  })
  it.each([0.25, 0.5, 1.6, 3.2])("has every part of the sound where it belongs at a speed of %d", (speed) => {
    for (const secondsBefore of [0.2, 0.5, 0.83]) {
      const pcm = concatPcm([new Int16Array(secondsBefore * hz), tone(200, 0.3), new Int16Array(0.3 * hz)])
      const made = stretched(pcm, speed)
      const [from, to] = [
        made.findIndex((sample) => Math.abs(sample) > 2_000),
        made.findLastIndex((sample) => Math.abs(sample) > 2_000)
      ]
      assert.closeTo((1_000 * from) / hz, (1_000 * secondsBefore) / speed, 12 / speed + 6)
      assert.closeTo((1_000 * to) / hz, (1_000 * (secondsBefore + 0.3)) / speed, 12 / speed + 6)
    }
  })

  const upTo = (maximum: number) => Schema.Int.check(Schema.isBetween({ minimum: 0, maximum }))
  const Samples = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: -32_768, maximum: 32_767 })))
  it.prop(
    "is the same however it comes, and exactly as long as asked",
    [Samples, upTo(40), upTo(3_000)],
    ([few, tenths, step]) => {
      const pcm = Int16Array.from(Array.from({ length: 30 }, () => few).flat())
      const speed = 0.2 + tenths / 10
      const atOnce = stretched(pcm, speed)
      assert.deepStrictEqual(stretched(pcm, speed, step), atOnce)
      assert.strictEqual(atOnce.length, Math.round(pcm.length / speed))
    }
  )
})
