/**
 * The inside of a speaker check's thread: opens the measure, then compares one pair after the other. Loads no Effect,
 * so that a thread is small and starts fast; hence the `try`.
 */
import { parentPort, workerData } from "node:worker_threads"

export interface ThreadData {
  /** The path of the model; empty without one. */
  readonly model: string
}

export interface ToThread {
  readonly number: number
  readonly one: Int16Array
  readonly other: Int16Array
  readonly rateHz: number
}

export type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "unusable"; readonly detail: string }
  | { readonly kind: "distance"; readonly number: number; readonly distance: number }
  | { readonly kind: "failed"; readonly number: number; readonly detail: string }

type Measure = (one: Int16Array, other: Int16Array, rateHz: number) => number

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
