import { assert, describe, it } from "@effect/vitest"
import type { ChunkFrameHead } from "#speech/contract"
import { chunkIntake, crossFadeSamples } from "../../../services/speech-sequencer/chunk-intake.ts"

const head = (sample: number, run = "a", isLast = false, words: ChunkFrameHead["words"] = []): ChunkFrameHead => ({
  _tag: "Chunk",
  chunk: 0,
  run,
  synthesizer: "s",
  sample,
  words,
  isLast
})
const tone = (length: number, value = 1_000) => new Int16Array(length).fill(value)
const nothing = new Int16Array(0)

describe("the intake of a chunk's frames", () => {
  it("gives out all samples in order, with silent edges", () => {
    const intake = chunkIntake()
    assert.isTrue(intake.accept(head(0), tone(500)))
    assert.isTrue(intake.accept(head(500), tone(500)))
    assert.isFalse(intake.isComplete())
    assert.isTrue(intake.accept(head(1_000, "a", true), nothing))
    const pcm = intake.take()
    assert.isTrue(intake.isComplete())
    assert.strictEqual(pcm.length, 1_000)
    assert.strictEqual(pcm[0], 0)
    assert.strictEqual(pcm[500], 1_000)
    assert.strictEqual(pcm.at(-1), 0)
  })

  it("holds back the last 5 ms until the next frame, for a cross-fade with another run", () => {
    const intake = chunkIntake()
    intake.accept(head(0), tone(1_000))
    assert.strictEqual(intake.take().length, 1_000 - crossFadeSamples)
  })

  it("takes no frame twice, and none behind a gap", () => {
    const intake = chunkIntake()
    intake.accept(head(0), tone(1_000))
    assert.isFalse(intake.accept(head(0), tone(1_000)))
    assert.isFalse(intake.accept(head(2_000), tone(10)))
    assert.strictEqual(intake.samples(), 1_000)
  })

  it("continues with a second run where the first one broke off, without a step", () => {
    const intake = chunkIntake()
    intake.accept(head(0, "a"), tone(1_000, 1_000))
    const before = intake.take()
    for (let at = 0; at < 3_000; at += 500) intake.accept(head(at, "b"), tone(500, 1_400))
    intake.accept(head(3_000, "b", true), nothing)
    const after = intake.take()
    assert.strictEqual(before.length + after.length, 3_000)
    const joined = [...before, ...after]
    let largest = 0
    for (let at = 100; at < 2_900; at++)
      largest = Math.max(largest, Math.abs((joined[at] ?? 0) - (joined[at - 1] ?? 0)))
    assert.isAtMost(largest, 5)
    assert.strictEqual(joined[500], 1_000)
    assert.strictEqual(joined[2_000], 1_400)
  })

  it("refuses late frames of a first run once another run went on", () => {
    const intake = chunkIntake()
    intake.accept(head(0, "a"), tone(1_000))
    intake.accept(head(0, "b"), tone(2_000))
    assert.isFalse(intake.accept(head(1_000, "a"), tone(500)))
    assert.strictEqual(intake.samples(), 2_000)
  })

  it("gives every word once, even when the chunk is made twice", () => {
    const words = [
      { piece: 0, position: 0, sample: 10 },
      { piece: 0, position: 6, sample: 600 }
    ]
    const more = { piece: 0, position: 12, sample: 1_500 }
    const intake = chunkIntake()
    intake.accept(head(0, "a", false, words), tone(1_000))
    intake.accept(head(0, "b", false, [...words, more]), tone(2_000))
    intake.accept(head(2_000, "b", true), nothing)
    assert.deepStrictEqual(intake.words(), [...words, more])
  })

  it("knows where the last sound ends", () => {
    const intake = chunkIntake()
    intake.accept(head(0), tone(700))
    intake.accept(head(700), tone(300, 3))
    intake.accept(head(1_000, "a", true), nothing)
    assert.strictEqual(intake.speechEnd(), 700)
  })

  it("is complete after a last frame without samples", () => {
    const intake = chunkIntake()
    assert.isTrue(intake.accept(head(0, "a", true), nothing))
    assert.isTrue(intake.isComplete())
    assert.strictEqual(intake.take().length, 0)
  })
})
