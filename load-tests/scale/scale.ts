/**
 * Does a delivery cost the same however many processes, endpoints or waiting deliveries there are? Each part climbs,
 * on a broker of its own at each step; `--sizes` names the steps.
 */
import type { Findings } from "../figures.ts"
import type { LoadOptions } from "../options.ts"
import { publishMany } from "../webhooks/publisher.ts"
import { type Dispatcher, type EndpointConfiguration, type Rig, startDispatcher, withRig } from "../webhooks/rig.ts"
import { drained, findingsOf, type Step } from "./drained.ts"

const deliveries = 20_000
const backlogMax = 10_000_000
// Ten thousand endpoints are as many connections being made in the same seconds: shown, not held to be flat.
const endpointsHeldUpTo = 1_000

const endpointsOf = (rig: Rig, count: number): ReadonlyArray<EndpointConfiguration> =>
  Array.from({ length: count }, (_, index) => ({
    Name: `endpoint ${index}`,
    Url: rig.receiver.url("ok", index),
    SecretEnvVar: "LOAD_SECRET",
    Concurrency: count === 1 ? 128 : 32,
    BacklogMax: backlogMax
  }))

/** Known to the fan-out, then gone: what is published next waits for them. */
const preload = async (rig: Rig, endpoints: ReadonlyArray<EndpointConfiguration>, events: number) => {
  await (await startDispatcher(rig.nats.url, endpoints)).stop()
  await publishMany(rig.jetstream, events)
}

const startAll = async (rig: Rig, endpoints: ReadonlyArray<EndpointConfiguration>, count: number) => {
  const began = performance.now()
  const starting = Array.from({ length: count }, () => startDispatcher(rig.nats.url, endpoints))
  const started = await Promise.allSettled(starting)
  const dispatchers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
  if (dispatchers.length === count) return { dispatchers, startMs: performance.now() - began }
  await stopAll(dispatchers)
  throw new Error(`${count - dispatchers.length} of ${count} dispatchers did not start`)
}

const stopAll = (dispatchers: ReadonlyArray<Dispatcher>) => Promise.all(dispatchers.map(({ stop }) => stop()))

const climb = async (sizes: ReadonlyArray<number>, step: (size: number) => Promise<Omit<Step, "size">>) => {
  const steps: Array<Step> = []
  for (const size of sizes) {
    const done = { size, ...(await step(size)) }
    const { cpuPerThousand, perSecond, load } = done
    const cost = `${cpuPerThousand.toFixed(3)} s of processor for 1,000, ${perSecond.toFixed(0)}/s`
    process.stderr.write(`  ${size}: ${cost}, load average ${load.toFixed(1)}\n`)
    steps.push(done)
  }
  return steps
}

/**
 * A backlog for four endpoints, drained by 1, 2 and 4 processes; as much for each of them, for what a process costs by
 * being there and warming up is to weigh the same in each step.
 */
export const processes = async ({ sizes = [1, 2, 4] }: LoadOptions): Promise<Findings> => {
  const steps = await climb(sizes, (size) =>
    withRig(async (rig) => {
      const endpoints = endpointsOf(rig, 4)
      const total = deliveries * size
      await preload(rig, endpoints, total / endpoints.length)
      const { dispatchers, startMs } = await startAll(rig, endpoints, size)
      try {
        return { startMs, ...(await drained(rig, dispatchers, total)) }
      } finally {
        await stopAll(dispatchers)
      }
    })
  )
  return findingsOf("dispatchers", steps)
}

/** As many deliveries over more and more endpoints, published while one process delivers. */
export const endpoints = async ({ sizes = [1, 10, 100, 1_000, 10_000] }: LoadOptions): Promise<Findings> => {
  const steps = await climb(sizes, (size) =>
    withRig(async (rig) => {
      const { dispatchers, startMs } = await startAll(rig, endpointsOf(rig, size), 1)
      try {
        const events = Math.max(2, Math.ceil(deliveries / size))
        const [measured] = await Promise.all([
          drained(rig, dispatchers, events * size),
          publishMany(rig.jetstream, events)
        ])
        return { startMs, ...measured }
      } finally {
        await stopAll(dispatchers)
      }
    })
  )
  return findingsOf("endpoints", steps, endpointsHeldUpTo)
}

/** One endpoint behind which more and more waits, all of it then drained; of 0, as many come while they are delivered. */
export const backlog = async ({ sizes = [0, 1_000, 10_000, 100_000, 1_000_000] }: LoadOptions): Promise<Findings> => {
  const steps = await climb(sizes, (size) =>
    withRig(async (rig) => {
      const endpoints = endpointsOf(rig, 1)
      if (size > 0) await preload(rig, endpoints, size)
      const { dispatchers, startMs } = await startAll(rig, endpoints, 1)
      try {
        const total = size === 0 ? deliveries : size
        const [measured] = await Promise.all([
          drained(rig, dispatchers, total),
          size === 0 ? publishMany(rig.jetstream, total) : undefined
        ])
        return { startMs, ...measured }
      } finally {
        await stopAll(dispatchers)
      }
    })
  )
  return findingsOf("waiting deliveries", steps)
}
