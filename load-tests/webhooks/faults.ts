/** What is lost and what comes twice when a process is killed or told to end, and whether retries are on time. */
import { type Findings, percentile, figuresOf } from "../figures.ts"
import { publishAtRate, publishMany } from "./publisher.ts"
import { until } from "../loops.ts"
import { startDispatcher, withRig } from "./rig.ts"
import { verify } from "./verify.ts"

const rate = 1_000
const concurrency = 32
/** Unacked at most, and 200 ms of traffic. */
const twiceMax = concurrency + rate * 0.2

const killed = (victim: "dispatcher" | "nats-server" | "both"): Promise<Findings> =>
  withRig(async (rig) => {
    const endpoints = [
      { Name: "a", Url: rig.receiver.url("ok"), SecretEnvVar: "LOAD_SECRET", Concurrency: concurrency }
    ]
    let dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const publishing = publishAtRate(rig.jetstream, rate, 6)
    await until(async () => (await rig.receiver.taken()) > 2 * rate, 30_000)
    const killedAt = performance.now()
    if (victim !== "nats-server") await dispatcher.stop("SIGKILL")
    if (victim !== "dispatcher") {
      await rig.nats.kill9()
      await rig.nats.start()
    }
    if (victim !== "nats-server") dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const before = await rig.receiver.taken()
    await until(async () => (await rig.receiver.taken()) > before, 60_000)
    const recoveredMs = performance.now() - killedAt
    const { confirmedAtMs } = await publishing
    const lost = async () => verify(confirmedAtMs.keys(), await rig.receiver.arrivals()).lost
    await until(async () => (await lost()) === 0, 60_000).catch(() => undefined)
    await dispatcher.stop()
    const verdict = verify(confirmedAtMs.keys(), await rig.receiver.arrivals())
    const figure = figuresOf(`kill -9 of ${victim} at ${rate}/s`)
    return {
      figures: [
        figure("lost", verdict.lost, "events", { target: "0", met: verdict.lost === 0 }),
        figure("came twice", verdict.twice, "events", { target: `<= ${twiceMax}`, met: verdict.twice <= twiceMax }),
        figure("twice under another delivery id", verdict.foreign, "events", {
          target: "0",
          met: verdict.foreign === 0
        }),
        figure("until deliveries went on", recoveredMs, "ms")
      ],
      series: []
    }
  })

export const kills = async (): Promise<Findings> => {
  const findings = []
  for (const victim of ["dispatcher", "nats-server", "both"] as const) findings.push(await killed(victim))
  return { figures: findings.flatMap((found) => found.figures), series: [] }
}

export const drain = (): Promise<Findings> =>
  withRig(async (rig) => {
    const endpoints = [
      { Name: "a", Url: rig.receiver.url("ok"), Concurrency: concurrency },
      { Name: "hang", Url: rig.receiver.url("hang"), Concurrency: 8, TimeoutSeconds: 60 }
    ]
    const first = await startDispatcher(rig.nats.url, endpoints)
    const publishing = publishAtRate(rig.jetstream, rate, 4)
    await until(async () => (await rig.receiver.taken()) > rate, 30_000)
    const { code, tookMs } = await first.stop("SIGTERM")
    const second = await startDispatcher(rig.nats.url, endpoints)
    const { confirmedAtMs } = await publishing
    const ok = async () => (await rig.receiver.arrivals()).filter(([, endpoint]) => endpoint === "ok/0")
    await until(async () => verify(confirmedAtMs.keys(), await ok()).lost === 0, 60_000).catch(() => undefined)
    await second.stop("SIGKILL")
    const verdict = verify(confirmedAtMs.keys(), await ok())
    const figure = figuresOf("SIGTERM under load, a receiver hanging")
    return {
      figures: [
        figure("took", tookMs, "ms", { target: "<= 30000 ms", met: tookMs <= 30_000 }),
        figure("exit code", code ?? -1, "", { target: "0", met: code === 0 }),
        figure("lost", verdict.lost, "events", { target: "0", met: verdict.lost === 0 }),
        figure("came twice", verdict.twice, "events")
      ],
      series: []
    }
  })

export const retries = (): Promise<Findings> =>
  withRig(async (rig) => {
    const endpoints = [{ Name: "a", Url: rig.receiver.url("flaky"), Concurrency: 64, CircuitBreaker: false }]
    const dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const { confirmedAtMs } = await publishAtRate(rig.jetstream, 200, 8)
    await until(async () => (await rig.receiver.taken()) >= 2 * confirmedAtMs.size, 60_000)
    await dispatcher.stop()
    const byDelivery = Map.groupBy(await rig.receiver.arrivals(), ([, , delivery]) => delivery)
    const waits = [...byDelivery.values()].map((all) => (all[1]?.[3] ?? Number.NaN) - (all[0]?.[3] ?? Number.NaN))
    const [earliest, p50, p99] = [
      Math.min(...waits) - 1_000,
      percentile(waits, 0.5) - 1_000,
      percentile(waits, 0.99) - 1_000
    ]
    const figure = figuresOf("retries after 1 s, at 200/s")
    return {
      figures: [
        figure("earliest", earliest, "ms late", { target: ">= 0", met: earliest >= 0 }),
        figure("p50", p50, "ms late"),
        figure("p99", p99, "ms late")
      ],
      series: []
    }
  })

export const hanging = (): Promise<Findings> =>
  withRig(async (rig) => {
    const rateWith = async (behaviour: string, from: number) => {
      const endpoints = Array.from({ length: 5 }, (_, index) => ({
        Name: `${behaviour} ${index}`,
        Url: rig.receiver.url(behaviour, index),
        TimeoutSeconds: 30
      }))
      const dispatcher = await startDispatcher(rig.nats.url, endpoints)
      await publishMany(rig.jetstream, 2_000, from)
      const { tookMs } = await publishMany(rig.jetstream, 10_000, from + 2_000)
      await dispatcher.stop("SIGKILL")
      return (10_000 / tookMs) * 1_000
    }
    const [ok, hang] = [await rateWith("ok", 0), await rateWith("hang", 1_000_000)]
    const figure = figuresOf("publishing, 5 endpoints")
    return {
      figures: [
        figure("all receivers healthy", ok, "/s"),
        figure("all receivers hanging", hang, "/s", { target: "as fast", met: hang >= ok * 0.9 })
      ],
      series: []
    }
  })
