/**
 * Does a delivery cost the same however many endpoints or waiting deliveries there are? Each part climbs, on a broker of
 * its own at each step; `--sizes` names the steps.
 */
import { atMost, figuresOf, type Findings } from "../figures.ts"
import type { LoadOptions } from "../options.ts"
import { publishMany } from "../webhooks/publisher.ts"
import { withRig } from "../webhooks/rig.ts"
import { climb, deliveries, endpointsOf, preload, startAll, stopAll } from "./dispatchers.ts"
import { costOf, drained, findingsOf, type Step } from "./drained.ts"

// Ten thousand endpoints are as many connections being made in the same seconds: shown, not held to be flat.
const endpointsHeldUpTo = 1_000

/** As many deliveries over more and more endpoints, published while one process delivers. */
export const endpoints = async ({ sizes = [1, 10, 100, 1_000, 10_000] }: LoadOptions): Promise<Findings> => {
  const steps = await climb(sizes, (size) =>
    withRig(async (rig) => {
      const { dispatchers, startMs } = await startAll(rig, endpointsOf(rig.receiver, size), { count: 1 })
      try {
        const events = Math.max(2, Math.ceil(deliveries / size))
        const [measured] = await Promise.all([
          drained([rig], dispatchers, { total: events * size, published: events }),
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
      const endpoints = endpointsOf(rig.receiver, 1)
      if (size > 0) await preload(rig, endpoints, { events: size })
      const { dispatchers, startMs } = await startAll(rig, endpoints, { count: 1 })
      try {
        const total = size === 0 ? deliveries : size
        const [measured] = await Promise.all([
          drained([rig], dispatchers, { total, published: total }),
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

const laneEndpoints = 8
const laneRounds = 3
const laneCostTimesMax = 1.1

/**
 * Does a delivery cost the same over more lanes? One process drains a backlog of eight endpoints; the steps take turns,
 * and each counts by the median of its rounds.
 */
export const lanes = async ({ sizes = [1, 2, 4] }: LoadOptions): Promise<Findings> => {
  const rounds: Array<ReadonlyArray<Step>> = []
  for (let round = 0; round < laneRounds; round += 1) rounds.push(await climb(sizes, overLanes, "lanes"))
  const steps = sizes.flatMap((size) => medianOf(rounds.flat().filter((step) => step.size === size)))
  const [first, last] = [steps[0], steps.at(-1)]
  const times = first === undefined || last === undefined ? Number.NaN : costOf(last) / costOf(first)
  const { figures, series } = findingsOf("lanes", steps, 0)
  const figure = figuresOf(`lanes, ${first?.size} to ${last?.size}`)
  const held = atMost(laneCostTimesMax, times, "times")
  return { figures: [...figures, figure("cost of a delivery, the last over the first", times, "times", held)], series }
}

const overLanes = (size: number) =>
  withRig(async (rig) => {
    const endpoints = endpointsOf(rig.receiver, laneEndpoints)
    const published = deliveries / laneEndpoints
    await preload(rig, endpoints, { events: published, lanes: size })
    const { dispatchers, startMs } = await startAll(rig, endpoints, { count: 1, lanes: size })
    try {
      return { startMs, ...(await drained([rig], dispatchers, { total: deliveries, published })) }
    } finally {
      await stopAll(dispatchers)
    }
  })

/** The step of median cost, with what any of them lost or sent twice. */
const medianOf = (steps: ReadonlyArray<Step>): ReadonlyArray<Step> => {
  const median = steps.toSorted((one, other) => costOf(one) - costOf(other))[Math.floor(steps.length / 2)]
  const most = (of: (step: Step) => number) => Math.max(...steps.map(of))
  return median === undefined ? [] : [{ ...median, lost: most(({ lost }) => lost), twice: most(({ twice }) => twice) }]
}
