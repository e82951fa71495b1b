/** The same number of deliveries over 1 to 10,000 endpoints. */
import { atMost, type Findings, figuresOf } from "../figures.ts"
import { publishMany } from "./publisher.ts"
import { until } from "../loops.ts"
import { startDispatcher, withRig } from "./rig.ts"

const deliveries = 20_000
// Ten thousand endpoints at once are up to 10,000 connections being made in the same second: shown, not held.
const heldUpTo = 1_000

const over = (endpointCount: number): Promise<Findings> =>
  withRig(async (rig) => {
    const endpoints = Array.from({ length: endpointCount }, (_, index) => ({
      Name: `endpoint ${index}`,
      Url: rig.receiver.url("ok", index),
      SecretEnvVar: "LOAD_SECRET"
    }))
    const starting = performance.now()
    const dispatcher = await startDispatcher(rig.nats.url, endpoints)
    const startMs = performance.now() - starting
    const started = performance.now()
    await publishMany(rig.jetstream, Math.max(2, deliveries / endpointCount))
    const total = Math.max(2, deliveries / endpointCount) * endpointCount
    await until(async () => (await rig.receiver.taken()) >= total, 120_000)
    const rate = (total / (performance.now() - started)) * 1_000
    const rss = dispatcher.rssMb()
    await dispatcher.stop()
    const figure = figuresOf(`${endpointCount} endpoints`)
    return {
      figures: [
        figure("deliveries", rate, "/s"),
        figure("start", startMs, "ms"),
        figure("memory of the dispatcher", rss, "MB", endpointCount > heldUpTo ? {} : atMost(500, rss, "MB"))
      ],
      series: []
    }
  })

export const manyEndpoints = async (): Promise<Findings> => {
  const findings = []
  for (const count of [1, 100, 1_000, 10_000]) findings.push(await over(count))
  return { figures: findings.flatMap((found) => found.figures), series: [] }
}
