/**
 * How long after its confirmation an event reaches the receiver, at a fixed rate; what one delivery costs the processor
 * where each comes alone; and what bad neighbours cost.
 */
import { atMost, distribution, type Findings, percentile, figuresOf } from "../figures.ts"
import { publishAtRate } from "./publisher.ts"
import { type EndpointConfiguration, type Rig, startDispatcher, withRig } from "./rig.ts"
import { until } from "../loops.ts"
import { useOf } from "../process-use.ts"
import { outOfOrder } from "./verify.ts"

// An endpoint's timeout is ten seconds.
const beforeFirstDeadlinesMs = 9_500

interface Run {
  readonly endpoints: (rig: Rig) => ReadonlyArray<EndpointConfiguration>
  readonly rate: number
  readonly seconds: number
  readonly warmUpSeconds?: number
  /** The number of its first event; no two runs of a rig share one. */
  readonly from?: number
}

const measure = async (rig: Rig, { endpoints, rate, seconds, warmUpSeconds = 4, from = 0 }: Run) => {
  await rig.receiver.reset()
  const dispatcher = await startDispatcher(rig.nats.url, endpoints(rig))
  const idleMb = dispatcher.rssMb()
  const warm = await publishAtRate(rig.jetstream, rate, warmUpSeconds, from)
  const spent = () => [dispatcher.cpuSeconds(), useOf(rig.nats.pid()).cpuSeconds] as const
  await until(async () => (await rig.receiver.taken()) >= warm.confirmedAtMs.size, 60_000)
  const [before, brokerBefore] = spent()
  const published = await publishAtRate(rig.jetstream, rate, seconds, from + rate * warmUpSeconds)
  const total = warm.confirmedAtMs.size + published.confirmedAtMs.size
  const healthy = async () => (await rig.receiver.arrivals()).filter(([, endpoint]) => endpoint === "ok/0")
  await until(async () => (await rig.receiver.taken()) >= total, 60_000)
  await until(async () => (await healthy()).length >= total, 60_000)
  const [after, brokerAfter] = spent()
  const msEach = (cpuSeconds: number) => (1_000 * cpuSeconds) / published.confirmedAtMs.size
  const arrivals = await healthy()
  const latenciesOf = (confirmedAtMs: ReadonlyMap<string, number>) =>
    arrivals.flatMap(([id, , , atMs]) => (confirmedAtMs.has(id) ? [atMs - (confirmedAtMs.get(id) ?? 0)] : []))
  await dispatcher.stop()
  const cpuMs = { dispatcher: msEach(after - before), broker: msEach(brokerAfter - brokerBefore) }
  const firstMs = Math.min(...warm.confirmedAtMs.values())
  const atFirstDeadlines = [...warm.confirmedAtMs].filter(([, atMs]) => atMs >= firstMs + beforeFirstDeadlinesMs)
  return {
    latencies: latenciesOf(published.confirmedAtMs),
    latenciesAtFirstDeadlines: latenciesOf(new Map(atFirstDeadlines)),
    disorder: outOfOrder(arrivals),
    idleMb,
    cpuMs
  }
}

const healthy = (rig: Rig) => ({ Name: "healthy", Url: rig.receiver.url("ok"), SecretEnvVar: "LOAD_SECRET" })

type Misbehaviour = "hang" | "drip" | "fail"

/** Nine endpoints that misbehave, in equal parts. */
const bad = (rig: Rig, behaviours: ReadonlyArray<Misbehaviour>) =>
  Array.from({ length: 9 }, (_, at) => {
    const behaviour = behaviours[at % behaviours.length] ?? "hang"
    return { Name: `${behaviour} ${at}`, Url: rig.receiver.url(behaviour, at), InitialBackoffSeconds: 1 }
  })

export const latency = (): Promise<Findings> =>
  withRig(async (rig) => {
    const { latencies, disorder, idleMb } = await measure(rig, {
      endpoints: (given) => [healthy(given)],
      rate: 500,
      seconds: 10
    })
    const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
    const figure = figuresOf("latency at 500/s")
    return {
      figures: [
        figure("PubAck to first byte, p50", p50, "ms", atMost(5, p50, "ms")),
        figure("PubAck to first byte, p99", p99, "ms", atMost(10, p99, "ms")),
        // They leave in order; on the wire two sockets may still overtake each other.
        figure("events of one item that overtook each other on the wire", disorder, ""),
        figure("memory of the dispatcher, idle", idleMb, "MB", { target: "< 250 MB", met: idleMb < 250 })
      ],
      series: [
        {
          title: "PubAck to first byte at 500/s",
          unit: "ms",
          lines: [{ name: "alone", values: distribution(latencies) }]
        }
      ]
    }
  })

/** At such a rate hardly two events meet: each pays for its own wake-ups, pulls, acks and records. */
export const alone = (): Promise<Findings> =>
  withRig(async (rig) => {
    const { latencies, cpuMs } = await measure(rig, { endpoints: (given) => [healthy(given)], rate: 200, seconds: 20 })
    const figure = figuresOf("alone at 200/s")
    return {
      figures: [
        figure("processor of the dispatcher for a delivery", cpuMs.dispatcher, "ms", atMost(1, cpuMs.dispatcher, "ms")),
        figure("processor of the broker for a delivery, with its publisher's part", cpuMs.broker, "ms"),
        figure("PubAck to first byte, p99", percentile(latencies, 0.99), "ms")
      ],
      series: []
    }
  })

interface Isolation {
  readonly rate: number
  readonly seconds: number
  /** Whether the target holds for neighbours that fail, too. */
  readonly isHeldAmongAll: boolean
}

const hanging: ReadonlyArray<Misbehaviour> = ["hang"]
const allKinds: ReadonlyArray<Misbehaviour> = ["hang", "drip", "fail"]
/** Past the first wave of deadlines, whose code runs for the first time. */
const isolationWarmUpSeconds = 12

/**
 * Neighbours that hang cost nothing but their places. Of those that fail at 100 events a second, some hundred attempts a
 * second compete for the same two cores: shown, not held.
 */
const isolationAt = ({ rate, seconds, isHeldAmongAll }: Isolation): Promise<Findings> =>
  withRig(async (rig) => {
    const figure = figuresOf(`isolation at ${rate}/s`)
    const run = (neighbours: (given: Rig) => ReadonlyArray<EndpointConfiguration>, from: number) =>
      measure(rig, {
        endpoints: (given) => [healthy(given), ...neighbours(given)],
        rate,
        seconds,
        warmUpSeconds: isolationWarmUpSeconds,
        from
      })
    const lonely = await run(() => [], 0)
    const p99Alone = percentile(lonely.latencies, 0.99)
    const figures = [
      figure(
        "worst of a healthy endpoint after ten seconds, alone",
        Math.max(...lonely.latenciesAtFirstDeadlines),
        "ms"
      ),
      figure("p99 of a healthy endpoint, alone", p99Alone, "ms")
    ]
    const lines = [{ name: "alone", values: distribution(lonely.latencies) }]
    for (const [at, behaviours] of [hanging, allKinds].entries()) {
      const among = await run((given) => bad(given, behaviours), 100_000 * (at + 1))
      const told = `9 that ${behaviours.join(", ").replace(/, (\w+)$/u, " or $1")}`
      const p99 = percentile(among.latencies, 0.99)
      const isHeld = behaviours === hanging || isHeldAmongAll
      figures.push(
        figure(
          `worst while the first deadlines pass, beside ${told}`,
          Math.max(...among.latenciesAtFirstDeadlines),
          "ms"
        ),
        figure(`p99 beside ${told}`, p99, "ms"),
        figure(`ratio beside ${told}`, p99 / p99Alone, "x", isHeld ? atMost(2, p99 / p99Alone, "x") : {})
      )
      lines.push({ name: `beside ${told}`, values: distribution(among.latencies) })
    }
    return { figures, series: [{ title: `A healthy endpoint at ${rate}/s`, unit: "ms", lines }] }
  })

export const isolationSlow = () => isolationAt({ rate: 20, seconds: 30, isHeldAmongAll: true })
export const isolationFast = () => isolationAt({ rate: 100, seconds: 20, isHeldAmongAll: false })
