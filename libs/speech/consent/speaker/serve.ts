/**
 * The inside of a speaker check's thread: opens what measures, then measures one pair after the other. Loads no
 * Effect, so that a thread is small and starts fast; hence the `try`.
 */
import { parentPort, workerData } from "node:worker_threads"
import type { FromThread, ThreadData, ToThread } from "./protocol.ts"

export type Measure = (one: Int16Array, other: Int16Array, rateHz: number) => number

export const serveDistances = (open: (data: ThreadData) => Measure): void => {
  const port = parentPort
  if (port === null) return
  const send = (message: FromThread) => port.postMessage(message, [])
  try {
    const measure = open(workerData as ThreadData)
    port.on("message", ({ number, one, other, rateHz }: ToThread) => {
      try {
        send({ kind: "distance", number, distance: measure(one, other, rateHz) })
      } catch (error) {
        send({ kind: "failed", number, detail: String(error) })
      }
    })
    send({ kind: "ready" })
  } catch (error) {
    send({ kind: "unusable", detail: error instanceof Error ? error.message : String(error) })
  }
}
