/**
 * All three jobs at a low rate while each role is restarted once, on the shipped rules of a real Prometheus: what would
 * an operator have been told, although nothing was wrong.
 */
import { conditionGroups } from "#console/conditions"
import { shippedRules, startPrometheus } from "#dev/fixtures/prometheus"
import { exactly, type Findings, figuresOf } from "../figures.ts"
import { pause } from "../loops.ts"
import type { LoadOptions } from "../options.ts"
import { chanceOf } from "../seeded.ts"
import { askOn, payOn, publishEvents, ratesOf, speakOn } from "./jobs.ts"
import { type SoakWorld, withSoakWorld } from "./world.ts"

const minutesDefault = 60
const eventsPerSecondDefault = 25
const pendingMax = 3
const lookEveryMs = 5_000

type Apart = NonNullable<SoakWorld["apart"]>

const scrapes = ({ metrics }: Apart) => [
  {
    job_name: "starling",
    scrape_interval: "15s",
    scrape_timeout: "5s",
    static_configs: [...metrics].map(([role, url]) => ({
      targets: [new URL(url).host],
      labels: { pod: `${role}-0`, namespace: "starling" }
    }))
  }
]

interface Alerts {
  readonly alerts: ReadonlyArray<{
    readonly state: "pending" | "firing"
    readonly labels: Readonly<Record<string, string>>
  }>
}

/** What was told, by its name, and how often it was so at a look. */
const told = () => {
  const looks = {
    firing: new Map<string, number>(),
    pending: new Map<string, number>(),
    critical: new Map<string, number>()
  }
  const note = (kind: keyof typeof looks, name: string) => looks[kind].set(name, (looks[kind].get(name) ?? 0) + 1)
  return { looks, note }
}

const watch = (world: SoakWorld, apart: Apart, ask: <A>(path: string) => Promise<A>) => {
  const { looks, note } = told()
  const look = async () => {
    for (const { state, labels } of (await ask<Alerts>("alerts")).alerts) note(state, labels["alertname"] ?? "")
    const answer = await fetch(`${apart.console}/conditions`, { headers: { authorization: `Bearer ${world.token}` } })
    const { items } = (await answer.json()) as {
      readonly items: ReadonlyArray<{ readonly name: string; readonly severity: string }>
    }
    for (const { name, severity } of items) if (severity === "critical") note("critical", name)
  }
  // While the console restarts it is not asked.
  const timer = setInterval(() => void look().catch(() => undefined), lookEveryMs)
  return { looks, end: () => clearInterval(timer) }
}

/** Each role once, at equal distances. */
const restarts = async ({ metrics, restart }: Apart, seconds: number) => {
  for (const role of metrics.keys()) {
    await pause((seconds * 1_000) / (metrics.size + 1))
    await restart(role)
  }
}

const named = (what: string, seen: ReadonlyMap<string, number>) =>
  seen.size === 0 ? what : `${what}: ${[...seen].map(([name, times]) => `${name} (${times} looks)`).join(", ")}`

export const calm = (options: LoadOptions): Promise<Findings> =>
  withSoakWorld({ isApart: true, isFlaky: false }, async (world) => {
    const { apart } = world
    const program = process.env["STARLING_PROMETHEUS"]
    if (apart === undefined || program === undefined) throw new Error("it needs Prometheus: apt-get install prometheus")
    const minutes = options.minutes ?? minutesDefault
    const rates = ratesOf(options.rate ?? eventsPerSecondDefault)
    const seconds = minutes * 60
    const prometheus = await startPrometheus(program, scrapes(apart), shippedRules())
    const watching = watch(world, apart, prometheus.ask)
    try {
      const [published, spoken, paid, asked] = await Promise.all([
        publishEvents(world, rates.events, seconds),
        speakOn(world, rates.streams, seconds, chanceOf(options.seed)),
        payOn(world, rates.paid, seconds),
        askOn(world, rates.unpaid, seconds),
        restarts(apart, seconds)
      ])
      const { firing, pending, critical } = watching.looks
      const figure = figuresOf(`calm, ${minutes} min, each role restarted`)
      const conditionCount = conditionGroups.reduce((sum, group) => sum + group.conditions.length, 0)
      return {
        series: [],
        figures: [
          figure("conditions that are looked for", conditionCount, ""),
          figure(named("critical conditions that stood", critical), critical.size, "", exactly(0, critical.size)),
          figure(named("alerts that fired", firing), firing.size, "", exactly(0, firing.size)),
          figure(named("alerts that were pending", pending), pending.size, "", {
            target: `<= ${pendingMax}`,
            met: pending.size <= pendingMax
          }),
          figure("events confirmed", published.confirmedAtMs.size, ""),
          figure("streams spoken", spoken.begun - spoken.lost, ""),
          figure("streams lost while a role restarted", spoken.lost, ""),
          figure("paid calls served", paid.served, ""),
          figure("paid calls not served", paid.refused, "", exactly(0, paid.refused)),
          figure("quotes given", asked.begun - asked.wrong, "")
        ]
      }
    } finally {
      watching.end()
      await prometheus.stop()
    }
  })
