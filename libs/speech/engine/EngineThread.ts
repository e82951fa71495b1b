/**
 * One thread of an engine, as its pool sees it: it works on one job at a time, a job is cancelled through shared
 * memory (the thread is deep in the engine's code and reads no messages there), and the end of the thread is the
 * end of its job.
 */
import { Worker } from "node:worker_threads"
import { Deferred, Effect } from "effect"
import type { EngineFrame, EngineJob } from "./Engine.ts"
import { EngineFailed, EngineMissing } from "./errors.ts"
import { type Ended, type FromThread, type ThreadData, type ToThread, warmUpNumber } from "./worker/protocol.ts"

export interface ThreadOptions {
  readonly engine: string
  /** The file that the thread runs. */
  readonly entry: URL
  /** What the engine needs on the host, for the error that says so. */
  readonly packages: string
  readonly libraryFolders?: ReadonlyArray<string>
  /** Handed to the thread as it is. */
  readonly model?: object
}

export interface RunningJob {
  readonly cancel: Effect.Effect<void>
  readonly ended: Effect.Effect<Ended, EngineFailed>
}

export interface EngineThread {
  readonly isAlive: () => boolean
  readonly begin: (job: EngineJob, onFrame: (frame: EngineFrame) => void) => Effect.Effect<RunningJob>
  /** Cancels its job and ends the thread; one that hangs in native code ends when that returns. */
  readonly stop: Effect.Effect<void>
}

interface Current {
  readonly number: number
  readonly onFrame: (frame: EngineFrame) => void
  readonly ended: Deferred.Deferred<Ended, EngineFailed>
}

// A callback comes every few milliseconds; whoever stops a pool does not wait for one that hangs.
const stopMsMax = 1_000

export const startThread = Effect.fnUntraced(function* (options: ThreadOptions) {
  const { engine } = options
  const cancelled = new Int32Array(new SharedArrayBuffer(4))
  const data: ThreadData = {
    cancelled,
    libraryFolders: options.libraryFolders ?? [],
    ...(options.model === undefined ? {} : { model: options.model })
  }
  const ready = Deferred.makeUnsafe<void, EngineMissing | EngineFailed>()
  let isAlive = true
  let current: Current | undefined
  let jobs = 0

  const die = (detail: string) => {
    isAlive = false
    const crashed = new EngineFailed({ engine, reason: "crashed", detail })
    Deferred.doneUnsafe(ready, Effect.fail(crashed))
    if (current !== undefined) Deferred.doneUnsafe(current.ended, Effect.fail(crashed))
    current = undefined
  }
  const hear = (message: FromThread) => {
    if (message.kind === "ready") return Deferred.doneUnsafe(ready, Effect.void)
    if (message.kind === "missing") {
      const { packages, detail } = message
      return Deferred.doneUnsafe(ready, Effect.fail(new EngineMissing({ engine, packages, detail })))
    }
    if (current?.number !== message.number) return
    if (message.kind === "frame") return current.onFrame(message.frame)
    Deferred.doneUnsafe(current.ended, Effect.succeed(message))
    current = undefined
  }

  const worker = new Worker(options.entry, { workerData: data, name: engine })
  worker.on("message", hear)
  worker.on("error", (error: unknown) => {
    const missing = missingPackage(options, error)
    if (missing !== undefined) Deferred.doneUnsafe(ready, Effect.fail(missing))
    die(error instanceof Error ? error.message : String(error))
  })
  const gone = Deferred.makeUnsafe<void>()
  worker.on("exit", (code) => {
    Deferred.doneUnsafe(gone, Effect.void)
    die(`the thread ended with code ${code}`)
  })
  // It ends by itself: terminated within a callback of the engine's code it would take the whole process with it.
  const stop = Effect.suspend(() => {
    if (isAlive) {
      Atomics.store(cancelled, 0, current?.number ?? warmUpNumber)
      worker.postMessage("end" satisfies ToThread, [])
      worker.unref()
    }
    die("stopped")
    return Effect.asVoid(Effect.timeoutOption(Deferred.await(gone), stopMsMax))
  })
  yield* Deferred.await(ready).pipe(Effect.onError(() => stop))

  const begin = (job: EngineJob, onFrame: (frame: EngineFrame) => void) =>
    Effect.sync((): RunningJob => {
      jobs += 1
      const number = jobs
      const ended = Deferred.makeUnsafe<Ended, EngineFailed>()
      current = { number, onFrame, ended }
      worker.postMessage({ number, job } satisfies ToThread, [])
      return {
        cancel: Effect.sync(() => void Atomics.store(cancelled, 0, number)),
        ended: Deferred.await(ended)
      }
    })
  const thread: EngineThread = {
    isAlive: () => isAlive,
    begin,
    stop
  }
  return thread
})

/** Without the package that loads libraries the thread fails at its first import. */
const missingPackage = (options: ThreadOptions, error: unknown) => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") return undefined
  return new EngineMissing({ engine: options.engine, packages: "npm's koffi", detail: error.message })
}
