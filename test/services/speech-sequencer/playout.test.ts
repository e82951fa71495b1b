import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { EngineVoice, Frame, ResumePoint, SessionFrameHead } from "#speech/contract"
import {
  type Playout,
  playout as makePlayout,
  readScript,
  type Script
} from "../../../services/speech-sequencer/playout.ts"

const voice: EngineVoice = {
  engine: "espeak",
  name: "en-us",
  ratePercent: 100,
  pitchPercent: 100,
  rangePercent: 100,
  formantPercent: 100,
  gainDb: 0
}
const turn = { voiceId: "henry", voice, locale: "en-US" }
const scriptOf = (...inputs: ReadonlyArray<string>) =>
  Result.getOrThrow(
    readScript({
      turns: inputs.map((input) => ({ ...turn, input })),
      textNormalization: false
    })
  )
const playout = (script: Script, resume: ResumePoint | null = null) => makePlayout(script, resume)
const three = scriptOf("One is here. Two is here. Three is here.")
const perChunk = 24_000
const unlimited = Number.MAX_SAFE_INTEGER

/** A synthesizer that makes a second of a steady tone of any chunk. */
const make = (play: Playout, chunk: number, run = "a") => {
  const head = { _tag: "Chunk" as const, chunk, run, synthesizer: "s", words: [] }
  play.accept({ ...head, sample: 0, isLast: false }, new Int16Array(perChunk).fill(500 + chunk))
  play.accept({ ...head, sample: perChunk, isLast: true }, new Int16Array(0))
}
const samplesOf = (frames: ReadonlyArray<Frame<SessionFrameHead>>) =>
  frames.reduce((sum, { pcm }) => sum + pcm.length, 0)
const marksOf = (frames: ReadonlyArray<Frame<SessionFrameHead>>) =>
  frames.flatMap(({ head }) => (head._tag === "Audio" || head._tag === "End" ? head.marks : []))
const endOf = (frames: ReadonlyArray<Frame<SessionFrameHead>>) => frames.at(-1)?.head

describe("the playout of a session", () => {
  it("requests each chunk once, three ahead", () => {
    const play = playout(three)
    assert.deepStrictEqual(play.wanted(true), [0, 1, 2])
    assert.deepStrictEqual(play.wanted(true), [])
  })

  it("requests the chunks after the first when that one has begun to come, if it is not slow", () => {
    const play = playout(three)
    assert.deepStrictEqual(play.wanted(false), [0])
    assert.deepStrictEqual(play.wanted(false), [])
    const head = { _tag: "Chunk" as const, chunk: 0, run: "a", synthesizer: "s", words: [] }
    play.accept({ ...head, sample: 0, isLast: false }, new Int16Array(0))
    assert.deepStrictEqual(play.wanted(false), [], "a sign of life is no sound")
    play.accept({ ...head, sample: 0, isLast: false }, new Int16Array(1_200))
    assert.deepStrictEqual(play.wanted(false), [1, 2])
    const slow = playout(three)
    assert.deepStrictEqual(slow.wanted(false), [0])
    assert.deepStrictEqual(slow.wanted(true), [1, 2])
  })

  it("sends chunks in order, whatever order they arrive in", () => {
    const play = playout(three)
    play.wanted(true)
    make(play, 2)
    make(play, 1)
    assert.deepStrictEqual(play.frames(unlimited), [])
    make(play, 0)
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), 3 * perChunk)
    assert.deepInclude(endOf(frames), { _tag: "End", totalSamples: 3 * perChunk })
    const middles = frames.flatMap(({ pcm }) => [...pcm]).filter((_, at) => at % perChunk === perChunk / 2)
    assert.deepStrictEqual(middles, [500, 501, 502])
    assert.isTrue(play.isEnded())
  })

  it("refuses what comes late of a chunk that is over", () => {
    const play = playout(three)
    play.wanted(true)
    make(play, 0)
    const late = { _tag: "Chunk" as const, chunk: 0, run: "b", synthesizer: "s", words: [] }
    assert.isFalse(play.accept({ ...late, sample: 0, isLast: false }, new Int16Array(100)))
    make(play, 1)
    make(play, 2)
    assert.strictEqual(samplesOf(play.frames(unlimited)), 3 * perChunk)
  })

  it("marks words behind a pause where they are heard", () => {
    const script = Result.getOrThrow(
      readScript({
        turns: [{ voiceId: "henry", voice, input: '<speak><break time="2s"/>One is here.</speak>', locale: "en-US" }],
        textNormalization: false
      })
    )
    const play = playout(script)
    play.wanted(true)
    make(play, 0)
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), 3 * perChunk)
    assert.deepStrictEqual(
      marksOf(frames).map(({ value, start_time }) => [value, start_time >= 2_000]),
      [
        ["One", true],
        ["is", true],
        ["here.", true]
      ]
    )
  })

  it("marks every word of the input once, on one timeline", () => {
    const play = playout(three)
    for (const chunk of play.wanted(true)) make(play, chunk)
    const marks = marksOf(play.frames(unlimited))
    assert.deepStrictEqual(
      marks.map(({ value }) => value),
      ["One", "is", "here.", "Two", "is", "here.", "Three", "is", "here."]
    )
    assert.strictEqual(marks[3]?.start_time, 1_000)
  })

  it("sends no more than the client's credit, and continues when there is more", () => {
    const play = playout(three)
    for (const chunk of play.wanted(true)) make(play, chunk)
    assert.strictEqual(samplesOf(play.frames(10_000)), 10_000)
    assert.isTrue(play.isFull(10_000))
    assert.deepStrictEqual(play.frames(10_000), [])
    assert.strictEqual(samplesOf(play.frames(unlimited)), 3 * perChunk - 10_000)
  })

  it("cuts audio into frames of at most half a second, without a gap", () => {
    const play = playout(three)
    for (const chunk of play.wanted(true)) make(play, chunk)
    let next = 0
    for (const { head, pcm } of play.frames(unlimited)) {
      assert.isAtMost(pcm.length, 12_000)
      if (head._tag !== "Audio") continue
      assert.strictEqual(head.sample, next)
      next += pcm.length
    }
    assert.strictEqual(next, 3 * perChunk)
  })

  it("requests no further chunk while seconds of audio wait to leave", () => {
    const many = scriptOf(Array.from({ length: 40 }, (_, at) => `Sentence number ${at} is here.`).join(" "))
    const play = playout(many)
    let requested = 0
    for (let chunks = play.wanted(true); chunks.length > 0; chunks = play.wanted(true)) {
      requested += chunks.length
      for (const chunk of chunks) make(play, chunk)
    }
    assert.isBelow(requested, 10)
    play.frames(unlimited)
    assert.isNotEmpty(play.wanted(true))
  })

  it("resumes at a sample in the middle with the same samples", () => {
    const whole = playout(three)
    for (const chunk of whole.wanted(true)) make(whole, chunk)
    const expected = whole.frames(unlimited).flatMap(({ pcm }) => [...pcm])
    const resumed = playout(three, { chunk: 1, chunkStartSample: perChunk, fromSample: perChunk + 7_000 })
    assert.deepStrictEqual(resumed.wanted(true), [1, 2])
    for (const chunk of [1, 2]) make(resumed, chunk)
    const frames = resumed.frames(unlimited)
    assert.deepStrictEqual(
      frames.flatMap(({ pcm }) => [...pcm]),
      expected.slice(perChunk + 7_000)
    )
    assert.deepInclude(endOf(frames), { _tag: "End", totalSamples: 3 * perChunk })
  })

  it("inserts silence for a break of the SSML", () => {
    const play = playout(scriptOf('<speak>One. <break time="500ms"/> Two.</speak>'))
    for (const chunk of play.wanted(true)) make(play, chunk)
    assert.strictEqual(samplesOf(play.frames(unlimited)), 2 * perChunk + 12_000)
  })
})

describe("the pause after a turn", () => {
  const spoken = (inputs: ReadonlyArray<string>, pauseAfterMs: number | undefined) => {
    const turns = inputs.map((input) => ({ ...turn, input, ...(pauseAfterMs !== undefined && { pauseAfterMs }) }))
    const play = playout(Result.getOrThrow(readScript({ turns, textNormalization: false })))
    for (const chunk of play.wanted(true)) make(play, chunk)
    return play.frames(unlimited)
  }

  it("comes after its last sentence, and moves the marks of the next turn", () => {
    const frames = spoken(["One is here. Two is here.", "Three is here."], 250)
    assert.strictEqual(samplesOf(frames), 3 * perChunk + 2 * 6_000)
    const starts = marksOf(frames).map(({ value, start_time }) => [value, start_time] as const)
    assert.deepInclude(starts, ["Two", 1_000])
    assert.deepInclude(starts, ["Three", 2_250])
  })
  it("is added to the break at its end", () => {
    assert.strictEqual(samplesOf(spoken(['<speak>One.<break time="1s"/></speak>'], 250)), 2 * perChunk + 6_000)
  })
  it("is none if it is absent", () => {
    assert.strictEqual(samplesOf(spoken(["One.", "Two."], undefined)), 2 * perChunk)
  })
  it("follows the moment of a turn that makes no sound, which stays silent", () => {
    const turns = [{ ...turn, input: "Well.", pauseAfterMs: 250 }]
    const play = playout(Result.getOrThrow(readScript({ turns, textNormalization: false })))
    play.wanted(true)
    const head = { _tag: "Chunk" as const, chunk: 0, run: "a", synthesizer: "s", words: [] }
    play.accept({ ...head, sample: 0, isLast: true }, new Int16Array(0))
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), 2_400 + 6_000)
    assert.deepInclude(endOf(frames), { silentTurns: [0] })
  })
})

describe("a turn that continues in a further session", () => {
  it("ends with a chunk that goes on, and all of its other chunks are as without it", () => {
    const goesOnOf = (goesOn: boolean) => {
      const turns = [{ ...turn, input: "One is here. Two is", ...(goesOn && { goesOn }) }]
      return Result.getOrThrow(readScript({ turns, textNormalization: false })).lines.map(({ chunk }) => chunk.goesOn)
    }
    assert.deepStrictEqual(goesOnOf(true), [undefined, true])
    assert.deepStrictEqual(goesOnOf(false), [undefined, undefined])
  })
})

describe("the script of a session", () => {
  it("reports every fault of every turn, with its offset", () => {
    const faults = readScript({
      turns: ["fine", "<speak><audio src='x'/></speak>", ""].map((input) => ({
        voiceId: "henry",
        voice,
        input,
        locale: "en-US"
      })),
      textNormalization: false
    })
    const paths = Result.isFailure(faults) ? faults.failure.map(({ path }) => path) : []
    assert.deepStrictEqual(paths, ["turns/1/input", "turns/2/input"])
    assert.match(JSON.stringify(faults), /at offset 7/u)
  })
})

describe("a turn of which nothing is heard", () => {
  const head = { _tag: "Chunk" as const, chunk: 0, run: "a", synthesizer: "s", words: [] }
  const quiet = new Int16Array(perChunk)
  const moment = 2_400
  const silentTurnsOf = (frames: ReadonlyArray<Frame<SessionFrameHead>>) => {
    const end = endOf(frames)
    return end?._tag === "End" ? end.silentTurns : undefined
  }

  it.each([
    ["without a sample", []],
    ["of silence", [quiet]]
  ])("is a moment of silence, and named at the end: %s", (_, parts) => {
    const play = playout(scriptOf("Well."))
    play.wanted(true)
    parts.forEach((pcm, at) => play.accept({ ...head, sample: at * perChunk, isLast: false }, pcm))
    assert.deepStrictEqual(play.frames(unlimited), [])
    play.accept({ ...head, sample: parts.length * perChunk, isLast: true }, new Int16Array(0))
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), moment)
    assert.deepStrictEqual(marksOf(frames), [])
    assert.deepStrictEqual(silentTurnsOf(frames), [0])
    assert.isTrue(play.isEnded())
  })

  it("is one of signs alone, for which no engine is needed", () => {
    const script = scriptOf("...", "Well.")
    assert.deepStrictEqual(script.silentTurns, [0])
    assert.isTrue(Result.isFailure(readScript({ turns: [{ ...turn, input: " " }], textNormalization: false })))
    const play = playout(script)
    play.wanted(true)
    play.accept({ ...head, sample: 0, isLast: true }, new Int16Array(0))
    make(play, 1)
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), moment + perChunk)
    assert.deepStrictEqual(silentTurnsOf(frames), [0])
  })

  it("is no turn that asks for silence", () => {
    const play = playout(scriptOf("<speak>Well. <break time='1s'/></speak>"))
    play.wanted(true)
    play.accept({ ...head, sample: 0, isLast: true }, new Int16Array(0))
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), 24_000)
    assert.deepStrictEqual(silentTurnsOf(frames), [])
    assert.isTrue(play.isEnded())
  })

  it("is named in a dialogue whose other turn is heard", () => {
    const play = playout(scriptOf("Well.", "Yes."))
    play.wanted(true)
    make(play, 0)
    play.accept({ ...head, chunk: 1, sample: 0, isLast: true }, new Int16Array(0))
    assert.deepStrictEqual(silentTurnsOf(play.frames(unlimited)), [1])
  })

  it("continues where a resume shows that it was heard before", () => {
    const play = playout(three, { chunk: 2, chunkStartSample: 2 * perChunk, fromSample: 2 * perChunk })
    play.wanted(true)
    play.accept({ ...head, chunk: 2, sample: 0, isLast: true }, new Int16Array(0))
    const frames = play.frames(unlimited)
    assert.deepStrictEqual(silentTurnsOf(frames), [])
    assert.isTrue(frames.length > 0 && play.isEnded())
  })
})

describe("the silence before a turn's first sound", () => {
  it("leaves with that sound, on its place", () => {
    const play = playout(scriptOf("Well."))
    play.wanted(true)
    const head = { _tag: "Chunk" as const, chunk: 0, run: "a", synthesizer: "s", words: [] }
    play.accept({ ...head, sample: 0, isLast: false }, new Int16Array(perChunk))
    assert.deepStrictEqual(play.frames(unlimited), [])
    play.accept({ ...head, sample: perChunk, isLast: false }, new Int16Array(perChunk).fill(500))
    play.accept({ ...head, sample: 2 * perChunk, isLast: true }, new Int16Array(0))
    const frames = play.frames(unlimited)
    assert.strictEqual(samplesOf(frames), 2 * perChunk)
    assert.deepInclude(endOf(frames), { _tag: "End", totalSamples: 2 * perChunk })
  })
})
