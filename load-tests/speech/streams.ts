/**
 * How many clients can play mp3 in real time at once. Each plays one stream after the other; they begin spread
 * over the length of a stream, so that at any moment some begin, some end and most are in the middle.
 */
import { atLeast, atMost, exactly, figuresOf, type Findings } from "../figures.ts"
import { open } from "./client.ts"
import { type Fleet, withFleet } from "./fleet.ts"
import { pause } from "../loops.ts"
import { play } from "./player.ts"
import { cpuSecondsOf, privateMbOf, processesOf, type ProcessUse, rssMbOf } from "../process-use.ts"
import { prose } from "./texts.ts"

const ladder = [150, 200, 250, 300, 350, 400]
const heldAt = 150
const mp3BytesPerSecond = 8_000
// Who was refused without being told when to come again.
const comeAgainMs = 500
// Some 20 s of audio.
const text = prose(300)
const spreadMs = 20_000
const stepMs = 45_000
const sampleEveryMs = 1_000

interface Step {
  readonly clients: number
  readonly underruns: number
  readonly broken: number
  /** Attempts that were told to come again. */
  readonly refused: number
  readonly audioSeconds: number
  readonly cpuMsPerAudioSecond: number
  readonly samples: ReadonlyArray<ReadonlyArray<ProcessUse>>
  /** Of all encoders together, for each stream. */
  readonly encoderPrivateMb: number
}

const client = async (fleet: Fleet, startMs: number, untilMs: number) => {
  await pause(startMs - performance.now())
  const total = { underruns: 0, broken: 0, refused: 0, bytes: 0 }
  while (performance.now() < untilMs) {
    const order = { input: text, output_format: "mp3_24000_64" }
    const response = await open(fleet, "/v1/audio/stream", order).catch(() => undefined)
    const retryAfter = Number(response?.headers["retry-after"])
    if (response?.statusCode === 429 || response?.statusCode === 503) {
      response.resume()
      total.refused += 1
      const waitMs = Number.isNaN(retryAfter) ? comeAgainMs : retryAfter * 1_000
      await pause(Math.min(waitMs, untilMs - performance.now()))
      continue
    }
    const played = response && (await play(response, { bytesPerSecond: mp3BytesPerSecond, untilMs }))
    total.underruns += played?.underruns ?? 0
    total.bytes += played?.bytes ?? 0
    const isCut = performance.now() >= untilMs
    if (response?.statusCode !== 200 || (!isCut && !played?.isWhole)) total.broken += 1
    if (response?.statusCode !== 200) await pause(comeAgainMs)
  }
  return total
}

const step = async (fleet: Fleet, clients: number): Promise<Step> => {
  const started = performance.now()
  const before = cpuSecondsOf(processesOf(fleet.pid))
  const all = Promise.all(
    Array.from({ length: clients }, (_, index) =>
      client(fleet, started + (index * spreadMs) / clients, started + stepMs)
    )
  )
  const samples: Array<ReadonlyArray<ProcessUse>> = []
  let encoderPrivateMb = 0
  while (performance.now() < started + stepMs) {
    await pause(sampleEveryMs)
    const uses = processesOf(fleet.pid)
    samples.push(uses)
    const encoders = uses.filter(({ kind }) => kind === "encoder")
    const privateMb = encoders.reduce((sum, { pid }) => sum + privateMbOf(pid), 0)
    encoderPrivateMb = Math.max(encoderPrivateMb, privateMb / clients)
  }
  const totals = await all
  const sum = (of: (total: (typeof totals)[number]) => number) => totals.reduce((all, total) => all + of(total), 0)
  const audioSeconds = sum(({ bytes }) => bytes) / mp3BytesPerSecond
  const cpuMs = (cpuSecondsOf(processesOf(fleet.pid)) - before) * 1_000
  return {
    clients,
    underruns: sum(({ underruns }) => underruns),
    broken: sum(({ broken }) => broken),
    refused: sum(({ refused }) => refused),
    audioSeconds,
    cpuMsPerAudioSecond: cpuMs / audioSeconds,
    samples,
    encoderPrivateMb
  }
}

const figuresFor = (step: Step) => {
  const figure = figuresOf(`${step.clients} real-time mp3 streams`)
  const isHeld = step.clients <= heldAt
  const most = (...kinds: Parameters<typeof rssMbOf>[1][]) =>
    Math.max(...step.samples.map((uses) => rssMbOf(uses, ...kinds)))
  const encoders = step.samples.map((uses) => uses.filter(({ kind }) => kind === "encoder"))
  return [
    figure("underruns", step.underruns, "", isHeld ? exactly(0, step.underruns) : {}),
    figure("broken off", step.broken, "streams", isHeld ? exactly(0, step.broken) : {}),
    figure("refused and told when to come again", step.refused, "attempts", isHeld ? exactly(0, step.refused) : {}),
    figure("audio played", step.audioSeconds, "s"),
    figure("processor time per second of audio, all of the fleet", step.cpuMsPerAudioSecond, "ms"),
    figure("memory of up", most("up"), "MB", atMost(500, most("up"), "MB")),
    figure("memory of the synthesizer", most("synthesizer"), "MB"),
    figure("processes of encoders, at most", Math.max(...encoders.map((each) => each.length)), ""),
    figure("RSS of one, at most", Math.max(0, ...encoders.flat().map(({ rssMb }) => rssMb)), "MB"),
    figure(
      "private memory of encoders for each stream, at most",
      step.encoderPrivateMb,
      "MB",
      atMost(12, step.encoderPrivateMb, "MB")
    )
  ]
}

export const streams = (): Promise<Findings> =>
  withFleet(async (fleet) => {
    const steps: Array<Step> = []
    for (const clients of ladder) {
      const done = await step(fleet, clients)
      steps.push(done)
      process.stderr.write(
        `  ${clients} streams: ${done.underruns} underruns, ${done.broken} broken off, ${done.refused} refused\n`
      )
      if (done.underruns + done.broken + done.refused > 0) break
    }
    const isClean = ({ underruns, broken, refused }: Step) => underruns + broken + refused === 0
    const clean = steps.filter(isClean).at(-1)?.clients ?? 0
    const most = figuresOf("real-time mp3 streams")(
      "at once without one underrun",
      clean,
      "",
      atLeast(heldAt, clean, "")
    )
    const memory = (kind: "up" | "synthesizer" | "encoder") =>
      steps.flatMap(({ samples }) => samples.map((uses) => rssMbOf(uses, kind)))
    return {
      figures: [...steps.flatMap(figuresFor), most],
      series: [
        {
          title: `Memory, over ${steps.map(({ clients }) => clients).join(", ")} streams`,
          unit: "MB",
          lines: [
            { name: "up", values: memory("up") },
            { name: "synthesizer", values: memory("synthesizer") },
            { name: "encoders, shared pages counted in each", values: memory("encoder") }
          ]
        }
      ]
    }
  })
