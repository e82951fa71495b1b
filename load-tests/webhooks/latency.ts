/**
 * How long after its confirmation an event reaches the receiver, at a fixed rate; what one delivery costs the processor
 * where each comes alone; and what bad neighbours cost.
 */
import { atMost, distribution, type Findings, joined, percentile, figuresOf } from "../figures.ts"
import { publishAtRate } from "./publisher.ts"
import { type EndpointConfiguration, type Rig, startDispatcher, withRig } from "./rig.ts"
import { until } from "../loops.ts"
import { useOf } from "../process-use.ts"
import { outOfOrder } from "./verify.ts"

const warmUpSeconds = 4

const measure = async (
  rig: Rig,
  endpoints: (rig: Rig) => ReadonlyArray<EndpointConfiguration>,
  rate: number,
  seconds: number,
  from: number
) => {
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
  const latencies = arrivals.flatMap(([id, , , atMs]) => {
    const confirmedAtMs = published.confirmedAtMs.get(id)
    return confirmedAtMs === undefined ? [] : [atMs - confirmedAtMs]
  })
  await dispatcher.stop()
  const cpuMs = { dispatcher: msEach(after - before), broker: msEach(brokerAfter - brokerBefore) }
  return { latencies, disorder: outOfOrder(arrivals), idleMb, cpuMs }
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
    const { latencies, disorder, idleMb } = await measure(rig, (given) => [healthy(given)], 500, 10, 0)
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
    const { latencies, cpuMs } = await measure(rig, (given) => [healthy(given)], 200, 20, 0)
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

interface Neighbours {
  readonly rate: number
  readonly seconds: number
  readonly behaviours: ReadonlyArray<Misbehaviour>
  readonly isHeld: boolean
}

const isolationBeside = ({ rate, seconds, behaviours, isHeld }: Neighbours): Promise<Findings> =>
  withRig(async (rig) => {
    const lonely = await measure(rig, (given) => [healthy(given)], rate, seconds, 0)
    const among = await measure(rig, (given) => [healthy(given), ...bad(given, behaviours)], rate, seconds, 100_000)
    const [p99Alone, p99Among] = [percentile(lonely.latencies, 0.99), percentile(among.latencies, 0.99)]
    const ratio = p99Among / p99Alone
    const told = `9 that ${behaviours.join(", ").replace(/, (\w+)$/u, " or $1")}`
    const figure = figuresOf(`isolation at ${rate}/s`)
    return {
      figures: [
        figure(`p99 of a healthy endpoint, alone`, p99Alone, "ms"),
        figure(`p99 beside ${told}`, p99Among, "ms"),
        figure(`ratio beside ${told}`, ratio, "x", isHeld ? atMost(2, ratio, "x") : {})
      ],
      series: [
        {
          title: `A healthy endpoint at ${rate}/s`,
          unit: "ms",
          lines: [
            { name: "alone", values: distribution(lonely.latencies) },
            { name: `beside ${told}`, values: distribution(among.latencies) }
          ]
        }
      ]
    }
  })

/**
 * Neighbours that hang cost nothing but their places. Of those that fail at 100 events a second, some hundred attempts a
 * second compete for the same two cores: shown, not held.
 */
export const isolation = async (): Promise<Findings> =>
  joined([
    await isolationBeside({ rate: 20, seconds: 40, behaviours: ["hang"], isHeld: true }),
    await isolationBeside({ rate: 20, seconds: 40, behaviours: ["hang", "drip", "fail"], isHeld: true }),
    await isolationBeside({ rate: 100, seconds: 15, behaviours: ["hang"], isHeld: true }),
    await isolationBeside({ rate: 100, seconds: 15, behaviours: ["hang", "drip", "fail"], isHeld: false })
  ])
