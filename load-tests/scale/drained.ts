/**
 * What deliveries cost while they are made: processor time of the dispatchers and of the broker, which a busy machine
 * changes less than the rate, and which can be compared when there are more processes than cores.
 */
import { loadavg } from "node:os"
import { parseExposition } from "../../services/fleet/commands/exposition.ts"
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
  readonly load: number
}

// What compiles and connects at first is not a delivery's cost.
const warmUpShare = 0.1
// Slower than this is not slow but stuck.
const perSecondMin = 100

export const drained = async (
  rig: Rig,
  dispatchers: ReadonlyArray<Dispatcher>,
  total: number
): Promise<Omit<Step, "size" | "startMs">> => {
  const within = 120_000 + (total / perSecondMin) * 1_000
  const taken = () => rig.receiver.taken()
  await until(async () => (await taken()) >= total * warmUpShare, within)
  const cpuOf = () => dispatchers.reduce((sum, { cpuSeconds }) => sum + cpuSeconds(), 0)
  const brokerOf = () => useOf(rig.nats.pid()).cpuSeconds
  const [from, cpu, broker, began] = [await taken(), cpuOf(), brokerOf(), performance.now()]
  await until(async () => (await taken()) >= total, within)
  const count = total - from
  const measured = {
    perSecond: (count / (performance.now() - began)) * 1_000,
    cpuPerThousand: ((cpuOf() - cpu) / count) * 1_000,
    brokerCpuPerThousand: ((brokerOf() - broker) / count) * 1_000,
    rssMb: dispatchers.reduce((sum, { rssMb }) => sum + rssMb(), 0),
    load: loadavg()[0] ?? Number.NaN
  }
  const tally = await rig.receiver.tally()
  const conflicts = await Promise.all(dispatchers.map(conflictsOf))
  return {
    ...measured,
    conflicts: conflicts.reduce((sum, one) => sum + one, 0),
    lost: total - tally.different,
    twice: tally.taken - tally.different
  }
}

const conflictsOf = async ({ metricsUrl }: Dispatcher) => {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text()
  return (parseExposition(text).get("bus_relay_conflicts_total") ?? []).reduce((sum, { value }) => sum + value, 0)
}

/** What still counts as flat: caches and collectors make a cost waver by a fifth, another fifth a busy machine. */
const flatTimes = 1.5

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
  const cost = ({ cpuPerThousand, brokerCpuPerThousand }: Step) => cpuPerThousand + brokerCpuPerThousand
  const [first, last] = [held[0], held.at(-1)]
  const times = first === undefined || last === undefined ? Number.NaN : cost(last) / cost(first)
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
