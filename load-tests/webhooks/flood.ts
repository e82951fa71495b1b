/**
 * What a flood of events by one of the broker's users costs the events of the fleet: how late these come while it lasts,
 * beside the same flood into a stream that nobody reads, which takes the same part of the machine.
 */
import { join } from "node:path"
import { subjects } from "#base"
import { startHelper } from "../children.ts"
import { distribution, type Findings, figuresOf, percentile } from "../figures.ts"
import { until } from "../loops.ts"
import { publishAtRate } from "./publisher.ts"
import { type EndpointConfiguration, type Rig, startDispatcher, withRig } from "./rig.ts"

const floodEvents = 100_000
const rate = 50
const warmUpSeconds = 4

interface Flood {
  readonly told: string
  readonly subject: string
  readonly endpoints: (rig: Rig) => ReadonlyArray<EndpointConfiguration>
  /** The number of its first event; no two of a rig share one. */
  readonly from: number
}

const signed = { SecretEnvVar: "LOAD_SECRET" }
const own = (rig: Rig) => ({ ...signed, Name: "own", Url: rig.receiver.url("ok"), EventFilter: ["work_item.*"] })
const filed = (rig: Rig) => ({ ...signed, Name: "filed", Url: rig.receiver.url("ok", 1), EventFilter: ["report.*"] })

const foreign = subjects.eventFrom("internal-services", "report.filed")
const elsewhere = "elsewhere.report.filed"
const floods: ReadonlyArray<Flood> = [
  { told: "into a stream that nobody reads", subject: elsewhere, endpoints: (rig) => [own(rig)], from: 0 },
  { told: "that no endpoint takes", subject: foreign, endpoints: (rig) => [own(rig)], from: 100_000 },
  { told: "that another endpoint takes", subject: foreign, endpoints: (rig) => [own(rig), filed(rig)], from: 200_000 }
]

const measure = async (rig: Rig, { subject, endpoints, from }: Flood) => {
  await rig.receiver.reset()
  const dispatcher = await startDispatcher(rig.nats.url, endpoints(rig))
  const flooder = await startHelper(join(import.meta.dirname, "flooder.ts"), rig.nats.url, subject)
  try {
    const warm = await publishAtRate(rig.jetstream, rate, warmUpSeconds, from)
    const flooding = flooder.ask<{ readonly tookMs: number }>(String(floodEvents))
    const confirmedAtMs = new Map<string, number>()
    let flooded: { readonly tookMs: number } | undefined
    do {
      const second = await publishAtRate(rig.jetstream, rate, 1, from + warm.confirmedAtMs.size + confirmedAtMs.size)
      for (const [id, atMs] of second.confirmedAtMs) confirmedAtMs.set(id, atMs)
      flooded = await Promise.race([flooding, Promise.resolve(undefined)])
    } while (flooded === undefined)
    const all = warm.confirmedAtMs.size + confirmedAtMs.size
    await until(async () => (await rig.receiver.takenAt("ok/0")) >= all, 120_000)
    const arrivals = (await rig.receiver.arrivals()).filter(([, endpoint]) => endpoint === "ok/0")
    const latencies = arrivals.flatMap(([id, , , atMs]) => {
      const confirmed = confirmedAtMs.get(id)
      return confirmed === undefined ? [] : [atMs - confirmed]
    })
    return { latencies, perSecond: (1_000 * floodEvents) / flooded.tookMs }
  } finally {
    await flooder.end()
    await dispatcher.stop()
  }
}

export const flood = (): Promise<Findings> =>
  withRig(async (rig) => {
    await rig.manager.streams.add({ name: "ELSEWHERE", subjects: [elsewhere], storage: "file" })
    const figures: Array<Findings["figures"][number]> = []
    const lines = []
    let bareP99: number | undefined
    for (const each of floods) {
      const figure = figuresOf(`a flood ${each.told}`)
      const { latencies, perSecond } = await measure(rig, each)
      const p99 = percentile(latencies, 0.99)
      bareP99 ??= p99
      figures.push(
        figure("events of the flood confirmed", perSecond, "/s"),
        figure("PubAck of the fleet's own events to first byte, p50", percentile(latencies, 0.5), "ms"),
        figure("the same, p99", p99, "ms"),
        figure("p99 beside that of a flood that nobody reads", p99 / bareP99, "x")
      )
      lines.push({ name: each.told, values: distribution(latencies) })
    }
    return { figures, series: [{ title: "The fleet's own events beside a flood", unit: "ms", lines }] }
  })
