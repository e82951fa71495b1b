/**
 * All three jobs at a reduced rate for an hour: does memory grow, is anything lost. Memory of every process over time,
 * its slope with its confidence, and the books of each job at the end.
 */
import { loadavg } from "node:os"
import { parseExposition } from "#console/readings"
import { exactly, type Figure, figuresOf, type Findings, percentile } from "../figures.ts"
import { pause, until } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { chanceOf } from "../seeded.ts"
import { meanOf, slopeOf } from "../slope.ts"
import { verify } from "../webhooks/verify.ts"
import { soakBooks } from "./books.ts"
import { askOn, payOn, publishEvents, ratesOf, speakOn } from "./jobs.ts"
import { type SoakWorld, withSoakWorld } from "./world.ts"

const minutesDefault = 60
const eventsPerSecondDefault = 50
const idleMs = 20_000
// What is loaded and cached in the first quarter is not growth.
const warmUpShare = 0.25
// A slope that one cannot tell from nothing within an hour, and nothing that a week would not bear: 1.7 GB.
const flatMbPerHour = 10
// Shorter ones say too little of an hour.
const heldFromMinutes = 55
const samplesMax = 720

type Sample = Readonly<Record<string, number>>

const heapMbOf = async (url: string) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return (parseExposition(text).get("nodejs_heap_size_used_bytes")?.[0]?.value ?? Number.NaN) / 2 ** 20
}

const sampleWhile = (world: SoakWorld, everyMs: number) => {
  const [samples, loads, heapMb]: [Array<Sample>, Array<number>, Array<number>] = [[], [], []]
  const timer = setInterval(() => {
    samples.push(world.residentMb())
    loads.push(loadavg()[0] ?? Number.NaN)
    if (world.metrics === undefined) return
    heapMbOf(world.metrics).then(
      (mb) => heapMb.push(mb),
      () => undefined
    )
  }, everyMs)
  return { samples, loads, heapMb, end: () => clearInterval(timer) }
}

// Between two collections a heap fills with what nobody holds; its lows are what is held.
const lowsMax = 48

const heapFigures = (scenario: string, heapMb: ReadonlyArray<number>, hours: number): ReadonlyArray<Figure> => {
  const settled = heapMb.slice(Math.floor(heapMb.length * warmUpShare))
  const width = Math.ceil(settled.length / lowsMax)
  const lows = Array.from({ length: Math.floor(settled.length / width) }, (_, part) =>
    Math.min(...settled.slice(part * width, (part + 1) * width))
  )
  if (lows.length === 0) return []
  const { perHour, margin } = slopeOf(lows, hours * (1 - warmUpShare))
  const figure = figuresOf(scenario)
  return [
    figure("heap held by up, at the end", lows.at(-1) ?? Number.NaN, "MB"),
    figure("heap held by up, slope after the first quarter", perHour, "MB/h"),
    figure("heap held by up, slope, 95 % within +-", margin, "MB/h")
  ]
}

const idleOf = async (world: SoakWorld) => {
  await pause(idleMs / 2)
  const sampling = sampleWhile(world, 500)
  await pause(idleMs / 2)
  sampling.end()
  return sampling.samples
}

const valuesOf = (samples: ReadonlyArray<Sample>, name: string) => samples.map((sample) => sample[name] ?? 0)

const memoryFigures = (scenario: string, idle: ReadonlyArray<Sample>, busy: ReadonlyArray<Sample>, minutes: number) => {
  const figure = figuresOf(scenario)
  return Object.keys(busy.at(-1) ?? {}).flatMap((name): ReadonlyArray<Figure> => {
    const [atRest, most] = [meanOf(valuesOf(idle, name)), Math.max(...valuesOf(busy, name))]
    const settled = valuesOf(busy, name).slice(Math.floor(busy.length * warmUpShare))
    const { perHour, margin } = slopeOf(settled, (minutes / 60) * (1 - warmUpShare))
    const isFleet = name === "up"
    const under = (limit: number, value: number) => (isFleet ? { target: `< ${limit} MB`, met: value < limit } : {})
    const flat =
      isFleet && minutes >= heldFromMinutes
        ? { target: `< ${flatMbPerHour} MB/h, or not surely above`, met: perHour - margin < flatMbPerHour }
        : {}
    return [
      figure(`memory of ${name}, idle`, atRest, "MB", under(250, atRest)),
      figure(`memory of ${name}, at most`, most, "MB", under(500, most)),
      figure(`memory of ${name}, slope after the first quarter`, perHour, "MB/h", flat),
      figure(`memory of ${name}, slope, 95 % within +-`, margin, "MB/h")
    ]
  })
}

const jobs = async (world: SoakWorld, events: number, seconds: number, seed: number) => {
  const rates = ratesOf(events)
  const [published, spoken, paid, asked] = await Promise.all([
    publishEvents(world, rates.events, seconds),
    speakOn(world, rates.streams, seconds, chanceOf(seed)),
    payOn(world, rates.paid, seconds),
    askOn(world, rates.unpaid, seconds)
  ])
  return { published, spoken, paid, asked }
}

const jobFigures = async (scenario: string, world: SoakWorld, did: Awaited<ReturnType<typeof jobs>>) => {
  const { published, spoken, paid, asked } = did
  const figure = figuresOf(scenario)
  const confirmed = [...published.confirmedAtMs.keys()]
  // Each comes to one endpoint once, to the other twice, for that refuses it first.
  await until(async () => (await world.receiver.taken()) >= 3 * confirmed.length, 60_000).catch(() => undefined)
  const arrivals = Map.groupBy(await world.receiver.arrivals(), ([, endpoint]) => endpoint)
  const ok = verify(confirmed, arrivals.get("ok/0") ?? [])
  const flaky = verify(confirmed, arrivals.get("flaky/1") ?? [])
  const books = await soakBooks(world, paid.quote)
  return [
    figure("events confirmed", confirmed.length, ""),
    figure("events lost", ok.lost + flaky.lost, "", exactly(0, ok.lost + flaky.lost)),
    figure("events that came twice to who had accepted them", ok.twice, "", exactly(0, ok.twice)),
    figure("twice under another delivery id", ok.foreign + flaky.foreign, "", exactly(0, ok.foreign + flaky.foreign)),
    figure("streams spoken", spoken.begun - spoken.lost, ""),
    figure("streams lost", spoken.lost, "", exactly(0, spoken.lost)),
    figure("streams, first byte, p50", percentile(spoken.firstByteMs, 0.5), "ms"),
    figure("streams, first byte, p99", percentile(spoken.firstByteMs, 0.99), "ms"),
    figure("paid calls served", paid.served, ""),
    figure("paid calls refused", paid.refused, "", exactly(0, paid.refused)),
    figure("paid calls, p50", percentile(paid.ms, 0.5), "ms"),
    figure("paid calls, p99", percentile(paid.ms, 0.99), "ms"),
    figure("receipts, smallest units of money", books.receipted, ""),
    figure("the payee's balance, smallest units", books.collected, "", exactly(books.receipted, books.collected)),
    figure("receipts", books.receipts, "", exactly(paid.served, books.receipts)),
    figure("claims that are settled", books.settled, "", exactly(paid.served, books.settled)),
    figure("claims that are open", books.open, "", exactly(0, books.open)),
    figure("quotes given", asked.begun - asked.wrong, ""),
    figure("unpaid calls not answered with 402", asked.wrong, "", exactly(0, asked.wrong)),
    figure("turns left out, for too many were running", spoken.heldUp + paid.heldUp, "")
  ]
}

export const soak = (options: LoadOptions): Promise<Findings> =>
  withSoakWorld({ isApart: options.apart, isFlaky: true }, async (world) => {
    const minutes = options.minutes ?? minutesDefault
    const events = options.rate ?? eventsPerSecondDefault
    const seconds = minutes * 60
    const scenario = `soak, ${minutes} min, ${events} events/s${options.apart ? ", each role apart" : ""}`
    const idle = await idleOf(world)
    const everyMs = Math.max(1_000, (seconds * 1_000) / samplesMax)
    const sampling = sampleWhile(world, everyMs)
    const before = world.cpuSeconds()
    const did = await jobs(world, events, seconds, options.seed)
    const cpu = (world.cpuSeconds() - before) / seconds
    sampling.end()
    const figure = figuresOf(scenario)
    const { samples, loads } = sampling
    const figures = [
      ...memoryFigures(scenario, idle, samples, minutes),
      ...heapFigures(scenario, sampling.heapMb, minutes / 60),
      ...(await jobFigures(scenario, world, did)),
      figure("processor of all roles, cores", cpu, ""),
      figure("load average of the machine, mean", meanOf(loads), "")
    ]
    const lines = Object.keys(samples.at(-1) ?? {}).map((name) => ({ name, values: valuesOf(samples, name) }))
    const at = samples.map((_, index) => (index * everyMs) / 60_000)
    const heap = { name: "heap in use of up", values: sampling.heapMb }
    return {
      figures,
      series: [
        { title: "Memory", unit: "MB", x: { unit: "min", values: at }, lines },
        ...(heap.values.length === 0 ? [] : [{ title: "Heap", unit: "MB", lines: [heap] }])
      ]
    }
  })
