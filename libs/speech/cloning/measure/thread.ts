/** The entry of a thread that measures one sample and ends. Loads no Effect, so that it starts fast. */
import { parentPort, workerData } from "node:worker_threads"
import { measureVoice } from "./measure-voice.ts"

export interface MeasureOrder {
  readonly samples: Int16Array
  readonly rateHz: number
}

const { samples, rateHz } = workerData as MeasureOrder
parentPort?.postMessage(measureVoice(samples, rateHz), [])
