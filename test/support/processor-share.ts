/**
 * The share of a processor that a thread gets while others want it too: 1 on a machine with nothing else to do. Divided by
 * it, a time that a test allows means the same on a machine that is busy.
 */
import { Worker } from "node:worker_threads"

export interface ProcessorShare {
  /** Ends the measurement, and waits for its first figure if there is none. */
  readonly end: () => Promise<number>
}

/** What a thread needs of a processor at once, and how seldom. A shorter burst is let in before those that always run. */
const burstMs = 40
const pauseMs = 360

/** Those who want the rest may be the product itself: it may not make its own time longer without end. */
const shareMin = 0.25

const bursts = `
const { parentPort } = require("node:worker_threads")
const usedMs = (since) => {
  const { user, system } = process.threadCpuUsage(since)
  return (user + system) / 1_000
}
const burst = () => {
  const [beganMs, before] = [performance.now(), process.threadCpuUsage()]
  let processorMs = 0
  while (processorMs < ${burstMs}) processorMs = usedMs(before)
  parentPort.postMessage({ processorMs, wallMs: performance.now() - beganMs })
  setTimeout(burst, ${pauseMs})
}
burst()
`

interface Burst {
  readonly processorMs: number
  readonly wallMs: number
}

export const watchProcessorShare = (): ProcessorShare => {
  const worker = new Worker(bursts, { eval: true })
  let [processorMs, wallMs] = [0, 0]
  const first = new Promise<void>((resolve) => {
    worker.on("message", (burst: Burst) => {
      processorMs += burst.processorMs
      wallMs += burst.wallMs
      resolve()
    })
  })
  return {
    end: async () => {
      await first
      await worker.terminate()
      return Math.min(1, Math.max(shareMin, processorMs / wallMs))
    }
  }
}
