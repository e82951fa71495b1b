import { assert, describe, it } from "@effect/vitest"
import { codePointStarts, espeakParameters } from "../../../../../libs/speech/engine/espeak/speaker.ts"
import { plainStyle as plain, voiceOf } from "../jobs.ts"

const voice = voiceOf("espeak", "en-us")

describe("espeak's parameters", () => {
  it("leave the voice unchanged for a plain piece", () => {
    assert.deepStrictEqual(espeakParameters(voice, plain), { wordsPerMinute: 175, stretch: 1, pitch: 50, range: 50 })
  })
  it("multiply the voice's rate and the piece's", () => {
    const style = espeakParameters({ ...voice, ratePercent: 80 }, { ...plain, ratePercent: 150 })

    assert.strictEqual(style.wordsPerMinute, 210)
  })
  it("leave to stretching what espeak-ng cannot speak as slowly", () => {
    const { stretch, wordsPerMinute } = espeakParameters({ ...voice, ratePercent: 25 }, plain)

    assert.strictEqual(wordsPerMinute * stretch, 175 / 4)
  })
  it("stay in espeak's scales for any request", () => {
    const least = espeakParameters(voice, { ratePercent: 50, pitchPercent: 17, rangePercent: 0 })
    const most = espeakParameters(voice, { ratePercent: 10_000, pitchPercent: 200, rangePercent: 400 })

    assert.deepStrictEqual(least, { wordsPerMinute: 88, stretch: 1, pitch: 0, range: 0 })
    assert.deepStrictEqual(most, { wordsPerMinute: 900, stretch: 1, pitch: 99, range: 99 })
  })
})

describe("the code points of a text", () => {
  it("begin at known UTF-16 units", () => {
    assert.deepStrictEqual([...codePointStarts("a😀é\ud800!")], [0, 1, 3, 4, 5, 6])
  })
})
