import { assert, describe, it } from "@effect/vitest"
import type { EngineVoice } from "#contracts"
import type { EngineFrame } from "../../../../libs/speech/engine/Engine.ts"
import { espeakParameters } from "../../../../libs/speech/engine/espeak/parameters.ts"
import { steadyVoice } from "../../../../libs/speech/engine/espeak/voice-files.ts"
import { fliteFeatures } from "../../../../libs/speech/engine/flite/parameters.ts"
import { plainAscii, utterances } from "../../../../libs/speech/engine/flite/text.ts"
import { makeFrameBatcher } from "../../../../libs/speech/engine/worker/frame-batcher.ts"
import { amplify } from "../../../../libs/speech/engine/worker/loudness.ts"
import { codePointStarts, endsWithPause, withoutControls } from "../../../../libs/speech/engine/worker/spoken-text.ts"

const voice: EngineVoice = {
  engine: "espeak",
  name: "en-us",
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  formantPercent: 100,
  gainDb: 0
}
const plain = { ratePercent: 100, pitchPercent: 100, rangePercent: 100 }

describe("an espeak voice file", () => {
  const lines = (text: string) => text.split("\n").filter((line) => line !== "")

  it("has no flutter and no breath, and is otherwise the installed one", () => {
    const installed = "language de\nflutter 5\ntunes s4 c1\npitch 80 118\nbreath 0 2 3\nbreathw 150\n"

    assert.deepStrictEqual(lines(steadyVoice(installed)), [
      "language de",
      "tunes s4 c1",
      "pitch 80 118",
      "flutter 0",
      "roughness 2"
    ])
  })
  it("has a variant's throat instead of its language's", () => {
    const voice = steadyVoice("language ru\nspeed 95\nreplace 03 a a#\n", "gender female\npitch 142 220\nroughness 0")

    assert.deepStrictEqual(lines(voice), [
      "language ru",
      "replace 03 a a#",
      "gender female",
      "pitch 142 220",
      "flutter 0",
      "roughness 0"
    ])
  })
  it("is no rougher than espeak's own voice", () => {
    assert.include(lines(steadyVoice("language en", "roughness 3")), "roughness 2")
  })
})

describe("espeak's parameters", () => {
  it("leave the voice unchanged by default", () => {
    assert.deepStrictEqual(espeakParameters(voice, plain), { wordsPerMinute: 175, pitch: 50, range: 50 })
  })
  it("multiply the voice's rate and the piece's", () => {
    const style = espeakParameters({ ...voice, ratePercent: 80 }, { ...plain, ratePercent: 150 })

    assert.strictEqual(style.wordsPerMinute, 210)
  })
  it("stay in espeak's scales for any request", () => {
    const least = espeakParameters(voice, { ratePercent: 50, pitchPercent: 17, rangePercent: 0 })
    const most = espeakParameters(voice, { ratePercent: 10_000, pitchPercent: 200, rangePercent: 400 })

    assert.deepStrictEqual(least, { wordsPerMinute: 88, pitch: 0, range: 0 })
    assert.deepStrictEqual(most, { wordsPerMinute: 900, pitch: 99, range: 99 })
  })
})

describe("flite's features", () => {
  it("set the pitch in each voice's own way", () => {
    const higher = { ...plain, pitchPercent: 120 }

    assert.closeTo(fliteFeatures("kal16", voice, higher)["int_f0_target_mean"] ?? 0, 114, 0.001)
    assert.strictEqual(fliteFeatures("slt", voice, higher)["f0_shift"], 1.2)
  })
  it("leave the deviation to the voice by default", () => {
    assert.deepStrictEqual(fliteFeatures("slt", voice, plain), { duration_stretch: 1, f0_shift: 1 })
  })
})

describe("the text for an engine", () => {
  it("has no control characters, and the length of the text", () => {
    assert.strictEqual(withoutControls("a\u0000b\u0001+20Pc\u0085d\ne"), "a b +20Pc d e")
  })
  it("maps code points back to UTF-16", () => {
    assert.deepStrictEqual([...codePointStarts("a😀é\ud800!")], [0, 1, 3, 4, 5, 6])
  })
  it.each(["Yes.", "Yes, ", 'He said "no!" ', "どうも。", "شكرا؟"])("pauses after %s", (text) => {
    assert.isTrue(endsWithPause(text))
  })
  it.each(["Yes", "$1.5", "really ", ""])("does not pause after %s", (text) => {
    assert.isFalse(endsWithPause(text))
  })
  it("becomes ASCII of the same length for flite", () => {
    assert.strictEqual(plainAscii("Noël “œuvre” — 😀 naïve 漢"), 'Noel "ouvre" ,    naive  ')
  })
})

describe("utterances", () => {
  const cut = (text: string) => utterances(text).map(({ from, to }) => text.slice(from, to))

  it("end with sentences, but not with abbreviations", () => {
    assert.deepStrictEqual(cut("Dr. Smith met us at noon. We had tea."), ["Dr. Smith met us at noon. ", "We had tea."])
  })
  it("are short and lose nothing, whatever the text", () => {
    for (const text of ["", "a".repeat(20_000), "word ".repeat(500), "so, ".repeat(300), "A. ".repeat(300)]) {
      assert.strictEqual(cut(text).join(""), text)
      assert.isTrue(cut(text).every((part) => part.length <= 120))
    }
  })
})

describe("the batches of frames", () => {
  const collect = () => {
    const frames: Array<EngineFrame> = []
    return { frames, batcher: makeFrameBatcher((frame) => void frames.push(frame)) }
  }

  it("begin at once and then double up to a second", () => {
    const { frames, batcher } = collect()

    for (let at = 0; at < 120; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const lengths = frames.map((frame) => frame.pcm.length / 1200)
    assert.deepStrictEqual(lengths, [1, 2, 4, 8, 16, 20, 20, 20, 20, 9])
  })
  it("carry a word at its beginning, even when it was reported earlier", () => {
    const { frames, batcher } = collect()

    for (const sample of [0, 1200, 3599, 99_999]) batcher.word({ piece: 0, position: sample, sample })
    for (let at = 0; at < 4; at++) batcher.audio(new Int16Array(1200))
    batcher.end()

    const words = frames.map((frame) => frame.words.map((word) => word.position))
    assert.deepStrictEqual(words, [[0], [1200, 3599], [99_999]])
    assert.strictEqual(frames[2]?.words[0]?.sample, 4800)
  })
})

describe("loudness", () => {
  it("is exact below full scale and bends instead of clipping", () => {
    const pcm = Int16Array.from([1000, -1000, 20_000, -20_000, 32_767])

    amplify(pcm, 6)

    assert.deepStrictEqual([...pcm.subarray(0, 2)], [1995, -1995])
    assert.isTrue(pcm.every((sample) => Math.abs(sample) <= 32_767))
    assert.isAbove(pcm[4] ?? 0, pcm[2] ?? 0)
  })
})
