/** From the request to the first byte of audio, at a fixed rate, over what the bare engine needs to its first PCM. */
import { atMost, distribution, exactly, figuresOf, type Findings, joined, percentile } from "../figures.ts"
import { withBareEngine } from "./bare.ts"
import { type Answer, speak } from "./client.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { closedLoop, openLoop } from "../loops.ts"
import { mixed } from "./texts.ts"

const perSecond = 20
const seconds = 20
const warmUpSeconds = 5

const held = {
  pcm_24000: { p50: 8, p99: 20 },
  mp3_24000_64: { p50: 15, p99: 40 }
} as const

/** One at a time: what others make one wait for is the fleet's to bear. */
const bareFirstPcm = () =>
  withBareEngine(async (engine) => {
    await closedLoop(perSecond * warmUpSeconds, 1, (index) => engine(mixed(index)))
    const spoken = await closedLoop(perSecond * seconds, 1, (index) => engine(mixed(index)))
    return spoken.map(({ firstPcmMs }) => firstPcmMs)
  })

const isWell = ({ status, isWhole }: Answer) => status === 200 && isWhole

// As Server-Timing names them: until a sequencer accepted, until its first samples, until the first bytes.
const stageNames = ["admit", "first_pcm", "encode"]

const stagesOf = (figure: ReturnType<typeof figuresOf>, answers: ReadonlyArray<Answer>) =>
  stageNames.flatMap((stage) => {
    const took = answers.map(({ stages }) => stages[stage] ?? 0)
    return [
      figure(`in the server, ${stage}, p50`, percentile(took, 0.5), "ms"),
      figure(`in the server, ${stage}, p99`, percentile(took, 0.99), "ms")
    ]
  })

const measured = async (fleet: Fleet, format: keyof typeof held, bare: ReadonlyArray<number>): Promise<Findings> => {
  const ask = (index: number) => speak(fleet, { input: mixed(index), output_format: format })
  await openLoop(perSecond, warmUpSeconds, ask)
  const answers = await openLoop(perSecond, seconds, ask)
  const well = answers.filter(isWell)
  const first = well.map(({ firstByteMs }) => firstByteMs)
  const over = (share: number) => percentile(first, share) - percentile(bare, share)
  const lost = answers.length - well.length
  const figure = figuresOf(`first byte of ${format} at ${perSecond}/s`)
  const { p50, p99 } = held[format]
  return {
    figures: [
      figure("p50", percentile(first, 0.5), "ms"),
      figure("p95", percentile(first, 0.95), "ms"),
      figure("p99", percentile(first, 0.99), "ms"),
      figure("p50 over the bare engine's", over(0.5), "ms", atMost(p50, over(0.5), "ms")),
      figure("p99 over the bare engine's", over(0.99), "ms", atMost(p99, over(0.99), "ms")),
      ...stagesOf(figure, well),
      figure("not answered whole", lost, "streams", exactly(0, lost))
    ],
    series: [
      {
        title: `Time to the first byte of ${format}, cumulative`,
        unit: "ms",
        lines: [
          { name: "fleet", values: distribution(first) },
          { name: "bare engine", values: distribution(bare) }
        ]
      }
    ]
  }
}

export const ttfb = async (): Promise<Findings> => {
  const bare = await bareFirstPcm()
  const figure = figuresOf("first PCM of the bare engine, one at a time")
  const alone: Findings = {
    figures: [0.5, 0.95, 0.99].map((share) => figure(`p${share * 100}`, percentile(bare, share), "ms")),
    series: []
  }
  const ours = await withFleet(async (fleet) => [
    await measured(fleet, "pcm_24000", bare),
    await measured(fleet, "mp3_24000_64", bare)
  ])
  return joined([alone, ...ours])
}

// Twelve words each.
const twelve: ReadonlyArray<string> = [
  "The boats come home before the rain, and the gulls know it.",
  "A small bakery opens early, because the fishermen like warm bread there.",
  "She wrote down every name she heard, and read them out loud.",
  "Nobody in the whole street remembered when the old clock had stopped."
]
const neuralCount = 60

/** What a model that is heard as a person needs to begin, one caller at a time. */
export const neuralFirstByte = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const ask = (index: number) =>
      speak(fleet, { input: twelve[index % twelve.length] ?? "", output_format: "mp3_24000_64", voice_id: "heart" })
    // Whoever asks before the model is open waits for it.
    await closedLoop(10, 1, ask)
    const answers = await closedLoop(neuralCount, 1, ask)
    const first = answers.filter(isWell).map(({ firstByteMs }) => firstByteMs)
    const p50 = percentile(first, 0.5)
    const lost = answers.length - first.length
    const figure = figuresOf("first byte of heart, a sentence of twelve words")
    return {
      figures: [
        figure("p50", p50, "ms", atMost(250, p50, "ms")),
        figure("p99", percentile(first, 0.99), "ms"),
        figure("not answered whole", lost, "streams", exactly(0, lost))
      ],
      series: [
        {
          title: "First byte of heart, cumulative",
          unit: "ms",
          lines: [{ name: "heart", values: distribution(first) }]
        }
      ]
    }
  })
