/** Marks held against the input and against the audio, and what a format decodes to against what was announced. */
import { audioFormats } from "#speech/audio"
import { atMost, distribution, exactly, figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { type BareEngine, withBareEngine } from "./bare.ts"
import { type MarkedSpeech, speak, speakMarked } from "./client.ts"
import { decoded, decodedHz } from "./decode.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { faultsOfMarks } from "./mark-faults.ts"
import { modelSilentMs, onsetsOf, startErrors } from "./onsets.ts"
import { paused, prose, spaced, tricky } from "./texts.ts"
import { englishModelVoices } from "./engine-cost.ts"

const formats = ["pcm_24000", "mp3_24000_64", "ogg_24000", "aac_24000", "ulaw_8000"]
const isLossy = (format: string) => /^(?:mp3|ogg|aac)/u.test(format)
const checked = [...spaced, ...tricky, prose(2_000)]

const bareErrors = async (engine: BareEngine) => {
  const errors: Array<number> = []
  // Only what an engine reads as it is: of SSML it sees no more than the words.
  for (const text of spaced.map((input) => input.replaceAll(/<[^>]*>/gu, ", "))) {
    const { pcm, wordsMs } = await engine(text)
    errors.push(...startErrors(onsetsOf(pcm), wordsMs))
  }
  return errors
}

interface Spoken {
  readonly voice_id: string
  readonly output_format: string
}

interface Heard {
  readonly inputs: ReadonlyArray<string>
  readonly silentMs?: number
}

/** Each fault of its marks against the inputs, and how far they are from what is heard. */
const heldAgainst = async (fleet: Fleet, spoken: Spoken, { inputs, silentMs }: Heard) => {
  const { output_format: format, voice_id: voice } = spoken
  const faults: Array<string> = []
  for (const input of checked) faults.push(...faultsOfMarks(input, await speakMarked(fleet, { input, ...spoken })))
  const errors: Array<number> = []
  for (const input of inputs) {
    const { audio, marks } = await speakMarked(fleet, { input, ...spoken })
    const starts = marks.map(({ start_time }) => start_time)
    errors.push(...startErrors(onsetsOf(await decoded(format, audio), silentMs), starts))
  }
  for (const fault of faults.slice(0, 5)) process.stderr.write(`  ${voice}, ${format}: ${fault}\n`)
  return { faults, errors }
}

const ofFormat = async (fleet: Fleet, format: string, bare: ReadonlyArray<number>): Promise<Findings> => {
  const { errors, faults } = await heldAgainst(fleet, { voice_id: "henry", output_format: format }, { inputs: spaced })
  const [p50, p90] = [percentile(errors, 0.5), percentile(errors, 0.9)]
  const [bareP50, bareP90] = [percentile(bare, 0.5), percentile(bare, 0.9)]
  const figure = figuresOf(`marks, ${format}`)
  return {
    figures: [
      figure("faults against the input", faults.length, "", exactly(0, faults.length)),
      figure("start error, p50", p50, "ms", isLossy(format) ? {} : atMost(bareP50 + 2, p50, "ms")),
      figure("start error, p90", p90, "ms", atMost(isLossy(format) ? 60 : bareP90 + 2, p90, "ms")),
      figure("onsets heard", errors.length, "")
    ],
    series: [
      {
        title: `Start error of marks, ${format}`,
        unit: "ms",
        lines: [
          { name: "marks", values: distribution(errors) },
          { name: "bare engine", values: distribution(bare) }
        ]
      }
    ]
  }
}

interface WholeSpeech {
  readonly audio_data: string
  readonly audio_duration_ms: number
}

const spoken = async (fleet: Fleet, order: { input: string; output_format: string }): Promise<MarkedSpeech> => {
  if (!order.output_format.startsWith("wav")) return speakMarked(fleet, order)
  const { body } = await speak(fleet, order, "/v1/audio/speech")
  const whole = JSON.parse(body.toString("utf8")) as WholeSpeech
  return { audio: Buffer.from(whole.audio_data, "base64"), marks: [], durationMs: whole.audio_duration_ms }
}

/** How much longer each format is, decoded, than was announced. */
const durations = async (fleet: Fleet): Promise<Findings> => {
  const figure = figuresOf("decoded duration, announced duration")
  const figures = []
  for (const { name } of audioFormats) {
    let worst = 0
    for (const input of ["Hello.", prose(100), prose(600, 3)]) {
      const { audio, durationMs = Number.NaN } = await spoken(fleet, { input, output_format: name })
      const differs = ((await decoded(name, audio)).length * 1_000) / decodedHz - durationMs
      if (!(Math.abs(differs) <= Math.abs(worst))) worst = differs
    }
    figures.push(figure(name, worst, "ms", { target: "within 5 ms", met: Math.abs(worst) < 5 }))
  }
  return { figures, series: [] }
}

export const marks = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const bare = await withBareEngine(bareErrors)
    const figure = figuresOf("word starts of the bare engine")
    const findings: Array<Findings> = [
      {
        figures: [
          figure("start error, p50", percentile(bare, 0.5), "ms"),
          figure("start error, p90", percentile(bare, 0.9), "ms"),
          figure("onsets heard", bare.length, "")
        ],
        series: []
      }
    ]
    for (const format of formats) findings.push(await ofFormat(fleet, format, bare))
    return joined([...findings, await durations(fleet)])
  })

const modelFormats = ["pcm_24000", "mp3_24000_64", "ogg_24000"]

const ofModel = async (fleet: Fleet, spoken: Spoken): Promise<Findings> => {
  const { errors, faults } = await heldAgainst(fleet, spoken, {
    inputs: [...spaced, ...paused],
    silentMs: modelSilentMs
  })
  const [p50, p90] = [percentile(errors, 0.5), percentile(errors, 0.9)]
  const named = `marks of ${spoken.voice_id}, ${spoken.output_format}`
  const figure = figuresOf(named)
  return {
    figures: [
      figure("words without a mark, and other faults", faults.length, "", exactly(0, faults.length)),
      figure("start error, p50", p50, "ms", atMost(30, p50, "ms")),
      figure("start error, p90", p90, "ms", atMost(80, p90, "ms")),
      figure("onsets heard", errors.length, "")
    ],
    series: [{ title: `Start error: ${named}`, unit: "ms", lines: [{ name: "marks", values: distribution(errors) }] }]
  }
}

/** The voices of models, whose words are told by the model itself or carried over from another engine's times. */
export const modelMarks = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const findings: Array<Findings> = []
    for (const { id } of englishModelVoices()) {
      for (const output_format of modelFormats) findings.push(await ofModel(fleet, { voice_id: id, output_format }))
    }
    return joined(findings)
  })
