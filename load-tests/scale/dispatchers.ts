/** The steps of a climb, and the dispatchers that they start: with a backlog before them or without. */
import { publishMany } from "../webhooks/publisher.ts"
import {
  type Dispatcher,
  type EndpointConfiguration,
  type Receiver,
  type Rig,
  startDispatcher
} from "../webhooks/rig.ts"
import type { Step } from "./drained.ts"

/** Made in a step, and for each process where there are several. */
export const deliveries = 20_000
const backlogMax = 10_000_000

/** Endpoints `from` on of the receiver. */
export const endpointsOf = (receiver: Receiver, count: number, from = 0): ReadonlyArray<EndpointConfiguration> =>
  Array.from({ length: count }, (_, index) => ({
    Name: `endpoint ${index}`,
    Url: receiver.url("ok", from + index),
    SecretEnvVar: "LOAD_SECRET",
    Concurrency: count === 1 ? 128 : 32,
    BacklogMax: backlogMax
  }))

/** Known to the fan-out, then gone: what is published next waits for them. */
export const preload = async (
  rig: Rig,
  endpoints: ReadonlyArray<EndpointConfiguration>,
  { events, lanes = 1 }: { readonly events: number; readonly lanes?: number }
) => {
  await (await startDispatcher(rig.nats.url, endpoints, { Lanes: lanes })).stop()
  await publishMany(rig.jetstream, events)
}

export const startAll = async (
  rig: Rig,
  endpoints: ReadonlyArray<EndpointConfiguration>,
  { count, lanes = 1 }: { readonly count: number; readonly lanes?: number }
) => {
  const began = performance.now()
  const starting = Array.from({ length: count }, () => startDispatcher(rig.nats.url, endpoints, { Lanes: lanes }))
  const started = await Promise.allSettled(starting)
  const dispatchers = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
  if (dispatchers.length === count) return { dispatchers, startMs: performance.now() - began }
  await stopAll(dispatchers)
  throw new Error(`${count - dispatchers.length} of ${count} dispatchers did not start`)
}

export const stopAll = (dispatchers: ReadonlyArray<Dispatcher>) => Promise.all(dispatchers.map(({ stop }) => stop()))

/** `how` is told beside a step's size while it climbs. */
export const climb = async (
  sizes: ReadonlyArray<number>,
  step: (size: number) => Promise<Omit<Step, "size">>,
  how = ""
) => {
  const steps: Array<Step> = []
  for (const size of sizes) {
    const done = { size, ...(await step(size)) }
    const { cpuPerThousand, perSecond, load } = done
    const cost = `${cpuPerThousand.toFixed(3)} s of processor for 1,000, ${perSecond.toFixed(0)}/s`
    process.stderr.write(`  ${`${size} ${how}`.trim()}: ${cost}, load average ${load.toFixed(1)}\n`)
    steps.push(done)
  }
  return steps
}
