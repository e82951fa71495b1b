/**
 * What deliveries cost while they are made: processor time of the dispatchers and of the broker, which a busy machine
 * changes less than the rate, and which can be compared when there are more processes than cores.
 */
import { loadavg } from "node:os"
import { parseExposition } from "#console/readings"
import { atMost, exactly, type Figure, figuresOf, type Findings } from "../figures.ts"
import { until } from "../loops.ts"
import { useOf } from "../process-use.ts"
import type { Dispatcher, Rig } from "../webhooks/rig.ts"

export interface Step {
  readonly size: number
  readonly perSecond: number
  /** Seconds of a core for a thousand deliveries. */
  readonly cpuPerThousand: number
  readonly brokerCpuPerThousand: number
  readonly rssMb: number
  readonly startMs: number
  readonly lost: number
  readonly twice: number
  /** Writes of the fan-out that a twin had made first: work done for nothing. */
  readonly conflicts: number
  /** Events that the fan-outs read and planned, for each one published. */
  readonly readTimes: number
  /** Deliveries that a pull brought, over all consumers. */
  readonly perPull: number
  readonly load: number
}

// What compiles and connects at first is not a delivery's cost.
const warmUpShare = 0.1
// Slower than this is not slow but stuck.
const perSecondMin = 100

/**
 * Until `total` deliveries of `published` events have come to the first rig's receiver, on whichever of the rigs' brokers
 * they wait.
 */
export const drained = async (
  rigs: readonly [Rig, ...ReadonlyArray<Rig>],
  dispatchers: ReadonlyArray<Dispatcher>,
  { total, published }: { readonly total: number; readonly published: number }
): Promise<Omit<Step, "size" | "startMs">> => {
  const { receiver } = rigs[0]
  const within = 120_000 + (total / perSecondMin) * 1_000
  await until(async () => (await receiver.taken()) >= total * warmUpShare, within)
  const pulls = countPulls(rigs)
  const cpuOf = () => sum(dispatchers.map(({ cpuSeconds }) => cpuSeconds()))
  const brokerOf = () => sum(rigs.map(({ nats }) => useOf(nats.pid()).cpuSeconds))
  const [from, cpu, broker, began] = [await receiver.taken(), cpuOf(), brokerOf(), performance.now()]
  await until(async () => (await receiver.taken()) >= total, within)
  const count = total - from
  const measured = {
    perSecond: (count / (performance.now() - began)) * 1_000,
    cpuPerThousand: ((cpuOf() - cpu) / count) * 1_000,
    brokerCpuPerThousand: ((brokerOf() - broker) / count) * 1_000,
    rssMb: sum(dispatchers.map(({ rssMb }) => rssMb())),
    load: loadavg()[0] ?? Number.NaN,
    perPull: count / pulls.stop()
  }
  const tally = await receiver.tally()
  const told = await Promise.all(dispatchers.map(metricsOf))
  return {
    ...measured,
    conflicts: sum(told.map((metric) => metric("bus_relay_conflicts_total"))),
    readTimes: sum(told.map((metric) => metric("webhook_events_received_total"))) / published,
    lost: total - tally.different,
    twice: tally.taken - tally.different
  }
}

const sum = (values: ReadonlyArray<number>) => values.reduce((all, one) => all + one, 0)

/** Listens to what is asked of the consumers; the brokers pay for it with a small message more for each pull. */
const countPulls = (rigs: ReadonlyArray<Rig>) => {
  let pulls = 0
  const subscriptions = rigs.map(({ connection }) =>
    connection.subscribe("$JS.API.CONSUMER.MSG.NEXT.>", { callback: () => void (pulls += 1) })
  )
  return {
    stop: () => {
      for (const subscription of subscriptions) subscription.unsubscribe()
      return pulls
    }
  }
}

const metricsOf = async ({ metricsUrl }: Dispatcher) => {
  const found = parseExposition(await (await fetch(`${metricsUrl}/metrics`)).text())
  return (name: string) => sum((found.get(name) ?? []).map(({ value }) => value))
}

/** What still counts as flat: caches and collectors make a cost waver by a fifth, another fifth a busy machine. */
const flatTimes = 1.5

export const costOf = ({ cpuPerThousand, brokerCpuPerThousand }: Step) => cpuPerThousand + brokerCpuPerThousand

const stepFigures = (scenario: string, step: Step): ReadonlyArray<Figure> => {
  const figure = figuresOf(`${step.size} ${scenario}`)
  return [
    figure("deliveries", step.perSecond, "/s"),
    figure("processor of the dispatchers for 1,000", step.cpuPerThousand, "s"),
    figure("processor of the broker for 1,000", step.brokerCpuPerThousand, "s"),
    figure("memory of the dispatchers", step.rssMb, "MB"),
    figure("start", step.startMs, "ms"),
    figure("lost", step.lost, "", exactly(0, step.lost)),
    figure("came twice", step.twice, "", exactly(0, step.twice)),
    figure("writes of the fan-out lost to a twin", step.conflicts, ""),
    figure("events read by fan-outs, for each published", step.readTimes, ""),
    figure("deliveries a pull", step.perPull, ""),
    figure("load average", step.load, "")
  ]
}

/** `scenario` names what the steps count, `heldUpTo` the last step whose cost is held to be flat. */
export const findingsOf = (
  scenario: string,
  steps: ReadonlyArray<Step>,
  heldUpTo = Number.POSITIVE_INFINITY
): Findings => {
  const held = steps.filter(({ size }) => size <= heldUpTo)
  const [first, last] = [held[0], held.at(-1)]
  const times = first === undefined || last === undefined ? Number.NaN : costOf(last) / costOf(first)
  const flat =
    held.length < 2
      ? []
      : [
          figuresOf(`${scenario}, ${first?.size} to ${last?.size}`)(
            "cost of a delivery, the last over the first",
            times,
            "times",
            atMost(flatTimes, times, "times")
          )
        ]
  const x = { unit: scenario, values: steps.map(({ size }) => size), isLogarithmic: true }
  const line = (name: string, of: (step: Step) => number) => ({ name, values: steps.map(of) })
  return {
    figures: [...steps.flatMap((step) => stepFigures(scenario, step)), ...flat],
    series: [
      {
        title: `Processor time of 1,000 deliveries over ${scenario}`,
        unit: "s",
        x,
        lines: [
          line("dispatchers", ({ cpuPerThousand }) => cpuPerThousand),
          line("broker", ({ brokerCpuPerThousand }) => brokerCpuPerThousand)
        ]
      },
      { title: `Deliveries over ${scenario}`, unit: "/s", x, lines: [line("all", ({ perSecond }) => perSecond)] },
      { title: `Memory over ${scenario}`, unit: "MB", x, lines: [line("dispatchers", ({ rssMb }) => rssMb)] }
    ]
  }
}

/**
 * What sharing a broker costs, against as many processes at once that share nothing but the machine: step by step. What
 * those cost more than one alone is shown beside it.
 */
export const sharingFigures = (scenario: string, together: ReadonlyArray<Step>, apart: ReadonlyArray<Step>) =>
  together.flatMap((step): ReadonlyArray<Figure> => {
    const [alone, bare] = [apart[0], apart.find(({ size }) => size === step.size)]
    if (alone === undefined || bare === undefined) return []
    const figure = figuresOf(`${step.size} ${scenario}`)
    const times = costOf(step) / costOf(bare)
    return [
      figure("cost of a delivery, apart over the first apart", costOf(bare) / costOf(alone), "times"),
      figure("cost of a delivery, on one broker over apart", times, "times", atMost(flatTimes, times, "times"))
    ]
  })
