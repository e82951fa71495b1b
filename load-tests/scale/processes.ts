/**
 * Does a delivery cost the same with more dispatchers? Each step is run twice: with all of them on one broker, and with
 * as many at once that have a broker and endpoints each and share only the machine. What the second costs more than one
 * process alone is the machine's; what the first costs more than the second is ours.
 */
import type { Findings } from "../figures.ts"
import type { LoadOptions } from "../options.ts"
import { type Dispatcher, type Rig, withRig } from "../webhooks/rig.ts"
import { climb, deliveries, endpointsOf, preload, startAll, stopAll } from "./dispatchers.ts"
import { drained, findingsOf, sharingFigures, type Step } from "./drained.ts"

type Rigs = readonly [Rig, ...ReadonlyArray<Rig>]

const endpointsEach = 4

/** A backlog for four endpoints, drained by all; as much for each of them, for a process costs by being there too. */
const together = (size: number) =>
  withRig(async (rig) => {
    const endpoints = endpointsOf(rig.receiver, endpointsEach)
    const total = deliveries * size
    const published = total / endpointsEach
    await preload(rig, endpoints, { events: published })
    const { dispatchers, startMs } = await startAll(rig, endpoints, { count: size })
    try {
      return { startMs, ...(await drained([rig], dispatchers, { total, published })) }
    } finally {
      await stopAll(dispatchers)
    }
  })

/** The same for each, on a broker of its own; one receiver takes all. */
const apart = (size: number) =>
  withRigs(size, async (rigs) => {
    const { receiver } = rigs[0]
    const places = rigs.map((rig, index) => ({
      rig,
      endpoints: endpointsOf(receiver, endpointsEach, index * endpointsEach)
    }))
    const published = deliveries / endpointsEach
    for (const { rig, endpoints } of places) await preload(rig, endpoints, { events: published })
    const starting = places.map(({ rig, endpoints }) => startAll(rig, endpoints, { count: 1 }))
    const started = await Promise.allSettled(starting)
    const found = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))
    const dispatchers: ReadonlyArray<Dispatcher> = found.flatMap((one) => one.dispatchers)
    try {
      if (found.length < size) throw new Error(`${size - found.length} of ${size} dispatchers did not start`)
      const measured = await drained(rigs, dispatchers, { total: deliveries * size, published: published * size })
      return { startMs: Math.max(...found.map(({ startMs }) => startMs)), ...measured }
    } finally {
      await stopAll(dispatchers)
    }
  })

const withRigs = <A>(count: number, use: (rigs: Rigs) => Promise<A>): Promise<A> =>
  withRig((rig) => {
    const more = (rigs: Rigs): Promise<A> =>
      rigs.length === count ? use(rigs) : withRig((another) => more([...rigs, another]))
    return more([rig])
  })

export const processes = async ({ sizes = [1, 2, 4] }: LoadOptions): Promise<Findings> => {
  const shared: Array<Step> = []
  const bare: Array<Step> = []
  // One after the other, so that what else the machine does is about the same for both.
  for (const size of sizes) {
    bare.push(...(await climb([size], apart, "apart")))
    shared.push(...(await climb([size], together, "on one broker")))
  }
  // The control is held to be whole, and to nothing else.
  const [own, control] = [findingsOf("dispatchers", shared), findingsOf("dispatchers apart", bare, 0)]
  return {
    figures: [...control.figures, ...own.figures, ...sharingFigures("dispatchers", shared, bare)],
    series: [...own.series, ...control.series]
  }
}
