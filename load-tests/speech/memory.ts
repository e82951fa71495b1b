/** Ten thousand short streams: none may be lost, and memory must not grow with them. */
import { exactly, figuresOf, type Findings } from "../figures.ts"
import { speak } from "./client.ts"
import { withFleet } from "./fleet.ts"
import { closedLoop } from "../loops.ts"
import { type Kind, processesOf, rssMbOf } from "../process-use.ts"

const count = 10_000
const mp3Every = 10
const atOnce = 6
const sampleEveryMs = 500
// What a garbage collector may hold back at one moment and not at another.
const growthMax = 0.05
const text = "Yes, all is well."

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length

export const memory = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const kinds = ["up", "synthesizer", "encoder"] as const
    const samples: Array<Record<(typeof kinds)[number], number>> = []
    const sampling = setInterval(() => {
      const uses = processesOf(fleet.pid)
      const of = (kind: Kind) => rssMbOf(uses, kind)
      samples.push({ up: of("up"), synthesizer: of("synthesizer"), encoder: of("encoder") })
    }, sampleEveryMs)
    const started = performance.now()
    const sizes: Record<string, Array<number>> = { pcm_24000: [], mp3_24000_64: [] }
    const whole = await closedLoop(count, atOnce, async (index) => {
      const format = index % mp3Every === 0 ? "mp3_24000_64" : "pcm_24000"
      const answer = await speak(fleet, { input: text, output_format: format })
      if (answer.status !== 200 || !answer.isWhole) return false
      sizes[format]?.push(answer.body.length)
      return true
    })
    const tookSeconds = (performance.now() - started) / 1_000
    clearInterval(sampling)
    const lost = whole.filter((is) => !is).length
    // The same words are as long every time, but for some milliseconds that an engine rounds differently.
    const short = Object.values(sizes).flatMap((all) => all.filter((size) => size < 0.95 * Math.max(...all))).length
    const figure = figuresOf(`${count} short streams`)
    const growths = (["up", "synthesizer"] as const).map((kind) => {
      const values = samples.map((sample) => sample[kind])
      const third = Math.floor(values.length / 3)
      const [middle, last] = [mean(values.slice(third, 2 * third)), mean(values.slice(2 * third))]
      const growth = last - middle
      const held = { target: `<= ${growthMax * 100} %`, met: growth <= growthMax * middle }
      return [
        figure(`memory of ${kind}, at most`, Math.max(...values), "MB"),
        figure(`growth of ${kind}, last third over middle third`, growth, "MB", held)
      ]
    })
    return {
      figures: [
        figure("lost", lost, "streams", exactly(0, lost)),
        figure("shorter than the others", short, "streams", exactly(0, short)),
        figure(`streams, ${atOnce} at once`, count / tookSeconds, "/s"),
        ...growths.flat()
      ],
      series: [
        {
          title: `Memory over ${count} short streams`,
          unit: "MB",
          lines: kinds.map((kind) => ({ name: kind, values: samples.map((sample) => sample[kind]) }))
        }
      ]
    }
  })
