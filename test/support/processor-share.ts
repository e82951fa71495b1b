/**
 * The share of a processor that a thread gets while others want it too: 1 on a machine with nothing else to do. Divided by
 * it, a time that a test allows means the same on a machine that is busy.
 */
import { Worker } from "node:worker_threads"

export interface ProcessorShare {
  /** Of the last four seconds; 1 before the first figure. */
  readonly now: () => number
  /** The figure of the end is of the time from here on. */
  readonly restart: () => void
  /** Ends the measurement, and waits for its first figure if there is none. */
  readonly end: () => Promise<number>
}

/** What a thread needs of a processor at once, and how seldom. A shorter burst is let in before those that always run. */
const burstMs = 40
const pauseMs = 360

/** Four seconds of them: as long as what is divided by them mostly takes. */
const lastBursts = 10

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

const shareOf = (bursts: ReadonlyArray<Burst>) => {
  const sum = (of: (burst: Burst) => number) => bursts.reduce((total, burst) => total + of(burst), 0)
  const share = bursts.length === 0 ? 1 : sum(({ processorMs }) => processorMs) / sum(({ wallMs }) => wallMs)
  return Math.min(1, Math.max(shareMin, share))
}

export const watchProcessorShare = (): ProcessorShare => {
  const worker = new Worker(bursts, { eval: true })
  let measured: Array<Burst> = []
  let next = Promise.withResolvers<void>()
  worker.on("message", (burst: Burst) => {
    measured.push(burst)
    next.resolve()
  })
  return {
    now: () => shareOf(measured.slice(-lastBursts)),
    restart: () => {
      measured = []
      next = Promise.withResolvers()
    },
    end: async () => {
      await next.promise
      await worker.terminate()
      return shareOf(measured)
    }
  }
}
