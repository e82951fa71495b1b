import { parentPort, workerData } from "node:worker_threads"
import { loadLibrary } from "../../../../../libs/speech/engine/worker/library.ts"

loadLibrary(workerData as string)
parentPort?.postMessage("loaded", [])
