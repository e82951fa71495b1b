import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { audioFormats } from "#speech/audio"
import { readInput } from "#speech"
import {
  faultsOfMarks,
  type Heard,
  type Mark,
  type SpeechFleet,
  startSpeechFleet,
  unmarked,
  wordsOf
} from "../support/speech.ts"
import {
  decodedTogether,
  type Encoded,
  largestStep,
  lengthMs,
  loudnessOf,
  onsetsOf,
  type Pcm,
  pitchOf,
  rms,
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

/** One of each container and codec: what the encoders do with the others is tried by encoders.integration.test.ts. */
const heardFormats = audioFormats.filter(({ name }) =>
  ["pcm_24000", "wav_48000", "mp3_22050_64", "ogg_24000", "aac_24000", "ulaw_8000", "alaw_8000", "flac_24000"].includes(
    name
  )
)

const decodedAnswers = async (): Promise<ReadonlyMap<string, Decoded>> => {
  const answers: Array<readonly [string, Answer]> = []
  for (const format of heardFormats) answers.push([format.name, await answerIn(format)])
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

describe("an output format", () => {
  let answers: ReadonlyMap<string, Decoded>

  beforeAll(async () => {
    answers = await decodedAnswers()
  })

  const answerOf = (name: string) => answers.get(name) ?? assert.fail(`no answer in ${name}`)

  it.each(heardFormats.map((format) => [format.name, format] as const))(
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

/** Speaks it, and holds its marks against all that is promised of them. */
const heardRight = async (text: string, more: object = {}) => {
  const heard = await fleet.listen({ input: text, voice_id: voice, output_format: "pcm_24000", ...more })
  assert.deepStrictEqual(faultsOfMarks([text], heard.marks, heard.durationMs), [])
  assert.strictEqual(unmarked(text, heard.marks), "")
  assert.strictEqual(heard.billable, text.length)
  return heard
}

describe("every word has a mark that is a slice of the input", () => {
  const tricky =
    "Dr. Okafor's 3rd train left at 17:45, didn't it? It cost $12.50 😀 in a naïve café; 今天天气很好。 مرحبا بالعالم. " +
    'See https://example.com/a?b=c; "Really?" — [sic] One\u00a0two\u2003three\ttab\u200b. ' +
    "a".repeat(500)

  it.each([voice, ...Object.keys(models)])("of %s", async (voice_id) => {
    await heardRight(tricky, { voice_id })
    await heardRight(tricky, { voice_id, options: { text_normalization: true } })
  })

  it.each([
    ["de-DE", "lena", "Das Wetter ist schön; wir gehen nach draußen, z. B. in den Park."],
    ["fr-FR", "camille", "L'été, c'est l'été : où êtes-vous, M. Dupont ?"],
    ["es-MX", "diego", "Órale, ¿vamos al cine el miércoles a las 8?"]
  ])("in %s, by a voice of its own and by an English one", async (language, voice_id, text) => {
    const own = await heardRight(text, { voice_id })
    const lent = await heardRight(text, { voice_id: "oliver", language })
    assert.deepStrictEqual(
      lent.marks.map(({ value }) => value),
      own.marks.map(({ value }) => value)
    )
  })
})

describe("a text of many sentences", () => {
  it("of 20,000 characters is spoken to its end, every word marked, on one timeline without drift", async () => {
    const sentence = "The harbour wakes before the town does, and Dr. Smith counts 42 crates. "
    const whole = sentence.repeat(300).slice(0, 20_000)
    const { audio, marks, durationMs } = await heardRight(whole, { output_format: "pcm_8000" })
    assert.isAtMost(durationMs - (marks.at(-1)?.end_time ?? 0), 1_000)
    assert.isAtMost(Math.abs(lengthMs({ samples: samplesOf(audio), rateHz: 8_000 }) - durationMs), 0.05)
  })

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
  const options = { loudness_normalization: true }

  const lossy = ["mp3_24000_64", "ogg_24000", "aac_24000", "ulaw_8000"]

  it.each([
    ["henry", "a text", long, ["pcm_24000", ...lossy], 1],
    ["selma", "a text", long, ["pcm_24000"], 1],
    ["roger", "a few words", short, ["pcm_24000"], 2]
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
    ["selma", ["pcm_24000", "mp3_24000_128", "ogg_24000", "aac_24000"]],
    ["henry", ["pcm_24000"]]
  ])("of %s gets the same bytes and marks", async (voice_id, formats) => {
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

describe("SSML", () => {
  const msOf = ({ marks }: Heard, value: string) => {
    const mark = marks.find((one) => one.value === value) ?? assert.fail(`no mark of ${value}`)
    return mark.end_time - mark.start_time
  }

  it("keeps a prosody over sentence ends and nested elements", async () => {
    const inner = 'one two. Three <prosody pitch="x-high">four. Five</prosody> six'
    const plain = await heardRight(`<speak>Start ${inner}. End.</speak>`)
    const slow = await heardRight(`<speak>Start <prosody rate="50%">${inner}.</prosody> End.</speak>`)
    for (const value of ["Three", "Five", "six."]) assert.isAbove(msOf(slow, value), 1.4 * msOf(plain, value), value)
    assert.isBelow(msOf(slow, "End."), 1.2 * msOf(plain, "End."))
  })

  it("speaks an alias, and marks the word that it stands for", async () => {
    const alias = '<speak>The <sub alias="World Wide Web Consortium">W3C</sub> says so.</speak>'
    assert.isAbove(msOf(await heardRight(alias), "W3C"), 1_000)
  })

  it("is silent for the length of a break, without a mark in it", async () => {
    const { audio, marks } = await heardRight('<speak>One<break time="2s"/> two <break time="750ms"/>three.</speak>')
    const [one, two, three] = marks as [Mark, Mark, Mark]
    assert.isAtLeast(two.start_time - one.end_time, 1_950)
    assert.isAtLeast(three.start_time - two.end_time, 700)
    const within = samplesOf(audio).subarray((one.end_time + 50) * 24, (two.start_time - 50) * 24)
    assert.isBelow(rms(within), 5)
  })

  it("has 13 emotions, and any two of them sound different", async () => {
    const emotions =
      "angry cheerful sad terrified relaxed fearful surprised calm assertive energetic warm direct bright"
    const sounds: Array<{ emotion: string; ms: number; decibels: number; hz: number; spread: number }> = []
    for (const emotion of emotions.split(" ")) {
      const text = "Nobody knows where we are going, and I am glad about it."
      const heard = await fleet.listen({
        input: `<speak><speechify:style emotion="${emotion}">${text}</speechify:style></speak>`,
        voice_id: voice,
        output_format: "pcm_24000"
      })
      const pcm: Pcm = { samples: samplesOf(heard.audio), rateHz: 24_000 }
      sounds.push({ emotion, ms: heard.durationMs, decibels: 20 * Math.log10(rms(pcm.samples)), ...pitchOf(pcm) })
    }
    assert.strictEqual(sounds.length, 13)
    for (const [index, one] of sounds.entries()) {
      for (const other of sounds.slice(index + 1)) {
        const isOther =
          Math.abs(one.ms / other.ms - 1) > 0.04 ||
          Math.abs(one.decibels - other.decibels) > 1 ||
          Math.abs(one.hz / other.hz - 1) > 0.05 ||
          Math.abs(one.spread / other.spread - 1) > 0.1
        assert.isTrue(isOther, `${JSON.stringify(one)} sounds like ${JSON.stringify(other)}`)
      }
    }
  })
})
