import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { audioFormats } from "#speech/audio"
import { readInput } from "#speech"
import { faultsOfMarks, type Mark, type SpeechFleet, startSpeechFleet, unmarked, wordsOf } from "../support/speech.ts"
import {
  decodedTogether,
  type Encoded,
  largestStep,
  lengthMs,
  loudnessOf,
  onsetsOf,
  type Pcm,
  samplesOf
} from "../support/speech-audio.ts"
import { writeTinyKokoro, writeTinyPiper } from "../support/tiny-voices.ts"

/** A voice of each kind of model: one that tells its words' times, and one to which they are carried over. */
const models = {
  teller: { write: writeTinyKokoro, speaker: "af_one" },
  carried: { write: writeTinyPiper, speaker: "0" }
} as const

let fleet: SpeechFleet
let folder: string

const modelOf = ([id, { speaker, write }]: [string, (typeof models)[keyof typeof models]]) => {
  const Folder = join(folder, id)
  mkdirSync(Folder)
  write(Folder)
  return { Id: id, Folder, Threads: 1, Voices: [{ Id: id, Locale: "en-US", Gender: "female", Speaker: speaker }] }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "starling-test-"))
  fleet = await startSpeechFleet({ VOICES_MODELS: JSON.stringify(Object.entries(models).map(modelOf)) })
})
afterAll(async () => {
  await fleet.remove()
  rmSync(folder, { recursive: true })
})

const voice = "henry"
// Words that begin with a vowel or a nasal are heard from where they begin; a stop is silent at first.
const input =
  "Everyone is in. Nobody knows, and I am alone. Army ants! Another one arrives? Nine of us, always; an end."
// Coarse enough to compare all of them, fine enough for half a millisecond.
const commonRateHz = 8_000

interface Answer {
  readonly bytes: Buffer
  readonly marks: ReadonlyArray<Mark>
  readonly durationMs: number
  readonly audioFormat: string
}

/** By the timestamps stream, and WAV, which cannot be streamed, in one piece. */
const answerIn = async (format: (typeof audioFormats)[number]): Promise<Answer> => {
  const body = { input, voice_id: voice, output_format: format.name }
  if (format.isStreamable) {
    const { audio, marks, durationMs } = await fleet.listen(body)
    return { bytes: audio, marks, durationMs, audioFormat: format.audioFormat }
  }
  const answer = await fleet.speak(body)
  return {
    bytes: Buffer.from(answer.audio_data, "base64"),
    marks: wordsOf(answer),
    durationMs: answer.audio_duration_ms,
    audioFormat: answer.audio_format
  }
}

const absolute = (numbers: Iterable<number>) => [...numbers].map(Math.abs).toSorted((left, right) => left - right)
const medianOf = (sorted: ReadonlyArray<number>) => sorted[Math.floor(sorted.length / 2)] ?? Infinity
const largestOf = (sorted: ReadonlyArray<number>) => sorted.at(-1) ?? Infinity

interface Decoded extends Answer {
  /** At its own rate, and at the common one. */
  readonly whole: Pcm
  readonly common: Pcm
}

/** How much later than its mark a word is heard, by word, for words after a silence. */
const latenessOf = ({ common, marks }: Decoded): ReadonlyMap<string, number> => {
  const onsets = onsetsOf(common, 80)
  return new Map(
    onsets.map((onset) => {
      const away = ({ start_time: start }: Mark) => Math.abs(start - onset)
      const nearest = marks.reduce((best, mark) => (away(mark) < away(best) ? mark : best))
      return [nearest.value, onset - nearest.start_time]
    })
  )
}

const decodedAnswers = async (): Promise<ReadonlyMap<string, Decoded>> => {
  const answers: Array<readonly [string, Answer]> = []
  for (const format of audioFormats) answers.push([format.name, await answerIn(format)])
  const pcms = await decodedTogether(
    answers.flatMap(([format, { bytes }]) => [
      { bytes, format },
      { bytes, format, rateHz: commonRateHz }
    ])
  )
  return new Map(
    answers.map(([name, answer], index) => {
      const [whole, common] = pcms.slice(2 * index)
      if (whole === undefined || common === undefined) throw new Error(`${name} was not decoded`)
      return [name, { ...answer, whole, common }]
    })
  )
}

describe("every output format", () => {
  let answers: ReadonlyMap<string, Decoded>

  beforeAll(async () => {
    answers = await decodedAnswers()
  })

  const answerOf = (name: string) => answers.get(name) ?? assert.fail(`no answer in ${name}`)

  it("is one of 39", () => assert.strictEqual(audioFormats.length, 39))

  it.each(audioFormats.map((format) => [format.name, format] as const))(
    "%s decodes to the announced length, and its words are heard at their marks",
    (name, format) => {
      const answer = answerOf(name)
      const { whole, marks, durationMs, audioFormat } = answer
      assert.strictEqual(audioFormat, format.audioFormat)
      assert.isAtMost(Math.abs(lengthMs(whole) - durationMs), 5, `${lengthMs(whole)} ms instead of ${durationMs}`)
      assert.deepStrictEqual(faultsOfMarks([input], marks, durationMs), [])
      assert.deepStrictEqual(
        marks.map(({ value }) => value),
        input.split(" ")
      )

      const lateness = latenessOf(answer)
      const inPcm = latenessOf(answerOf("pcm_24000"))
      const shown = JSON.stringify([...lateness])
      assert.isAtLeast(lateness.size, 5, shown)
      const late = absolute(lateness.values())
      assert.isAtMost(medianOf(late), 25, shown)
      assert.isAtMost(largestOf(late), 70, shown)
      // No encoder moves them: as in PCM, except for a lossy one's smear before an onset.
      const moved = absolute([...lateness].map(([word, ms]) => ms - (inPcm.get(word) ?? Infinity)))
      assert.isAtMost(medianOf(moved), 4, `${shown}, in PCM ${JSON.stringify([...inPcm])}`)
      assert.isAtMost(largestOf(moved), 20, `${shown}, in PCM ${JSON.stringify([...inPcm])}`)
    }
  )

  it("mp3 at 192 reports a delivery at 160, and a format that the caller did not name is not reported", async () => {
    const at192 = await fleet.speak({ input: "Hello.", voice_id: voice, output_format: "mp3_24000_192" })
    assert.strictEqual(at192.output_format, "mp3_24000_160")
    const byDefault = await fleet.speak({ input: "Hello.", voice_id: voice })
    assert.strictEqual(byDefault.audio_format, "wav")
    assert.isUndefined(byDefault.output_format)
    const wav = Buffer.from(byDefault.audio_data, "base64")
    assert.strictEqual(wav.toString("latin1", 0, 4), "RIFF")
    assert.strictEqual(wav.readUInt32LE(4), wav.length - 8)
    assert.strictEqual(wav.readUInt32LE(40), wav.length - 44)
  })
})

interface Timed extends Encoded {
  readonly durationMs: number
}

/** Each decodes to its announced length. */
const assertLengths = async (all: ReadonlyArray<Timed>) => {
  const pcms = await decodedTogether(all)
  for (const [index, { format, durationMs }] of all.entries()) {
    const ms = lengthMs(pcms[index] ?? assert.fail(`${format} was not decoded`))
    assert.isAtMost(Math.abs(ms - durationMs), 5, `${format}: ${ms} ms instead of ${durationMs}`)
  }
}

describe("every word of a model's voice has a mark that is a slice of the input", () => {
  const tricky =
    "Dr. Okafor's 3rd train left at 17:45, didn't it? It cost $12.50 😀 in a naïve café; co-operation, e-mail."
  const kinds = Object.keys(models).flatMap((id) =>
    ["pcm_24000", "mp3_24000_64", "ogg_24000"].map((name) => [id, name])
  )

  it.each(kinds)("%s, %s", async (voice_id, output_format) => {
    const all: Array<Timed> = []
    for (const text of [input, tricky]) {
      const { audio, marks, durationMs } = await fleet.listen({ input: text, voice_id, output_format })
      all.push({ bytes: audio, format: output_format, durationMs })
      assert.deepStrictEqual(faultsOfMarks([text], marks, durationMs), [])
      assert.strictEqual(unmarked(text, marks), "")
    }
    await assertLengths(all)
  })
})

describe("a text of many sentences", () => {
  const sentences = [
    "Every morning the harbour wakes before the town does.",
    "Gulls argue over the nets, and nobody minds; it has always been so.",
    "By seven the first boat is back, low in the water, with its lamps still on.",
    "Who counts the crates?",
    "An old man does, with a pencil behind his ear!"
  ]
  const long = Array.from({ length: 8 }, (_, index) => sentences.map((one) => `${one}`).join(index % 2 ? " " : "\n"))
  const text = long.join("\n\n")

  it("has no step in its samples where two chunks meet", async () => {
    const reading = readInput(text, { locale: "en-US", textNormalization: false })
    assert.strictEqual(reading._tag, "Success")
    const firsts = reading._tag === "Success" ? reading.success.chunks.map(({ tokens }) => tokens[0]?.start) : []
    const { audio, marks, durationMs } = await fleet.listen({
      input: text,
      voice_id: voice,
      output_format: "pcm_24000"
    })
    assert.deepStrictEqual(faultsOfMarks([text], marks, durationMs), [])
    const pcm: Pcm = { samples: samplesOf(audio), rateHz: 24_000 }

    const steps = firsts.slice(1).map((start) => {
      const index = marks.findIndex((mark) => mark.start === start)
      const [before, after] = [marks[index - 1], marks[index]]
      assert.isDefined(before)
      assert.isDefined(after)
      // From where the last word is silent to where the next one begins, and is not yet loud.
      return largestStep(pcm, (before?.end_time ?? 0) + 1, (after?.start_time ?? 0) + 0.5)
    })
    assert.isAtLeast(steps.length, 10)
    assert.isAtMost(Math.max(...steps), 250, `steps at the joins: ${steps.join(", ")}`)
  })

  it("is one file in every container: one header, no gap, no lost end", async () => {
    const all: Array<Timed> = []
    for (const format of ["mp3_24000_64", "ogg_24000", "aac_24000"]) {
      const { audio, durationMs } = await fleet.listen({ input: text, voice_id: voice, output_format: format })
      assert.isAbove(durationMs, 100_000)
      all.push({ bytes: audio, format, durationMs })
    }
    await assertLengths(all)
  })
})

describe("loudness_normalization", () => {
  const short = "All of us are in, and nobody knows."
  const long =
    "The harbour is quiet this morning. Two boats came in before dawn, and nobody could say from where. ".repeat(3)
  const german = "Der Hafen ist heute Morgen still. Zwei Boote kamen vor Sonnenaufgang, und niemand wusste, woher."
  const options = { loudness_normalization: true }

  const lossy = ["mp3_24000_64", "ogg_24000", "aac_24000", "ulaw_8000"]

  it.each([
    ["henry", "a text", long, ["pcm_24000", ...lossy], 1],
    ["nora", "a text", long, ["pcm_24000"], 1],
    ["kal", "a text", long, ["pcm_24000"], 1],
    ["roger", "a text", long, ["pcm_24000"], 1],
    ["selma", "a text", long, ["pcm_24000"], 1],
    ["jonas", "a text", german, ["pcm_24000"], 1],
    ["henry", "a few words", short, ["pcm_24000", "mp3_24000_64"], 2],
    ["roger", "a few words", short, ["pcm_24000", "mp3_24000_64"], 2]
  ] as const)("brings %s, saying %s, to -14 LUFS", async (voice_id, _what, input, formats, within) => {
    for (const format of formats) {
      const { audio } = await fleet.listen({ input, voice_id, output_format: format, options })
      assert.isAtMost(Math.abs((await loudnessOf(audio, format)) + 14), within, format)
    }
  })

  it("lifts quiet speech and lowers loud speech", async () => {
    for (const volume of ["-8dB", "+4dB"]) {
      const input = `<speak><prosody volume="${volume}">${long}</prosody></speak>`
      const { audio } = await fleet.listen({ input, voice_id: "nora", output_format: "pcm_24000", options })
      assert.isAtMost(Math.abs((await loudnessOf(audio, "pcm_24000")) + 14), 1, volume)
    }
  })
})

describe("a repeated request", () => {
  const asked = "The harbour is quiet this morning. Two boats came in before dawn, and nobody could say from where."

  it.each([
    ["selma", ["pcm_24000", "mp3_22050_64", "mp3_24000_128", "ogg_24000", "aac_24000", "ulaw_8000"]],
    ["roger", ["pcm_24000"]],
    ["kal", ["mp3_24000_64"]],
    ["henry", ["pcm_24000", "mp3_24000_128"]],
    ["nora", ["pcm_24000", "ogg_24000"]]
  ])("of %s gets the same bytes and marks, in every kind of format", async (voice_id, formats) => {
    for (const format of formats) {
      const order = { input: asked, voice_id, output_format: format }
      const first = await fleet.listen(order)
      // Other texts are spoken at the same time and before, by both engines.
      const [second] = await Promise.all([
        fleet.listen(order),
        fleet.listen({ input: "Something else is said.", voice_id: "henry", output_format: format }),
        fleet.listen({ input: "And by another one.", voice_id: "alan", output_format: format })
      ])
      assert.isTrue(second.audio.equals(first.audio), format)
      assert.deepStrictEqual(second.marks, first.marks)
    }
  })

  it("of a levelled or whole answer gets the same bytes", async () => {
    const options = { loudness_normalization: true }
    const order = { input: asked, voice_id: "selma", options, output_format: "wav_48000" }
    assert.strictEqual((await fleet.speak(order)).audio_data, (await fleet.speak(order)).audio_data)
  })
})
