import { assert, describe, it } from "@effect/vitest"
import type { EngineFrame } from "../../../../../libs/speech/engine/Engine.ts"
import { makeFrameBatcher } from "../../../../../libs/speech/engine/worker/frame-batcher.ts"

describe("the frames of a job", () => {
  const collect = () => {
    const frames: Array<EngineFrame> = []
    return { frames, batcher: makeFrameBatcher((frame) => void frames.push(frame)) }
  }

  it("leave at once, and then double in length up to a second", () => {
    const { frames, batcher } = collect()

    for (let at = 0; at < 120; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const lengths = frames.map((frame) => frame.pcm.length / 1200)
    assert.deepStrictEqual(lengths, [1, 2, 4, 8, 16, 20, 20, 20, 20, 9])
  })
  it("carry a word in the frame in which it begins, even when it was reported earlier", () => {
    const { frames, batcher } = collect()

    for (const sample of [0, 1200, 3599, 99_999]) batcher.word({ piece: 0, position: sample, sample })
    for (let at = 0; at < 4; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const words = frames.map((frame) => frame.words.map((word) => word.position))
    assert.deepStrictEqual(words, [[0], [1200, 3599], [99_999]])
    assert.strictEqual(frames[2]?.words[0]?.sample, 4800)
  })
})
