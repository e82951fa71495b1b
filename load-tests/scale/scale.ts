/**
 * Does a delivery cost the same however many endpoints or waiting deliveries there are? Each part climbs, on a broker of
 * its own at each step; `--sizes` names the steps.
 */
import type { Findings } from "../figures.ts"
import type { LoadOptions } from "../options.ts"
import { publishMany } from "../webhooks/publisher.ts"
import { withRig } from "../webhooks/rig.ts"
import { climb, deliveries, endpointsOf, preload, startAll, stopAll } from "./dispatchers.ts"
import { drained, findingsOf } from "./drained.ts"

// Ten thousand endpoints are as many connections being made in the same seconds: shown, not held to be flat.
const endpointsHeldUpTo = 1_000

/** As many deliveries over more and more endpoints, published while one process delivers. */
export const endpoints = async ({ sizes = [1, 10, 100, 1_000, 10_000] }: LoadOptions): Promise<Findings> => {
  const steps = await climb(sizes, (size) =>
    withRig(async (rig) => {
      const { dispatchers, startMs } = await startAll(rig, endpointsOf(rig.receiver, size), 1)
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
      if (size > 0) await preload(rig, endpoints, size)
      const { dispatchers, startMs } = await startAll(rig, endpoints, 1)
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
