/**
 * One thread of an engine, as its pool uses it. It works on one job at a time. A job is cancelled through shared
 * memory, because the thread is deep in the engine's code and reads no messages there; what computes long without a
 * callback is stopped by a call into its library. The end of the thread is the end of its job.
 */
import { Worker } from "node:worker_threads"
import { Deferred, Effect } from "effect"
import { EngineFailed, type EngineFrame, type EngineJob, EngineMissing } from "./Engine.ts"
import {
  type Ended,
  type FromThread,
  type NativeCall,
  type SpeakerKind,
  type ThreadData,
  type ToThread,
  warmUpNumber
} from "./worker/protocol.ts"

export interface ThreadOptions {
  readonly engine: string
  readonly speaks: SpeakerKind
  /** The file that the thread runs, if not the common one of all engines. */
  readonly entry?: URL
  /** The packages that the engine needs on the host, for the error that names them. */
  readonly packages: string
  /** Passed to the thread unchanged. */
  readonly model?: object
  readonly onLog?: (line: string) => void
}

export interface RunningJob {
  readonly cancel: Effect.Effect<void>
  readonly ended: Effect.Effect<Ended, EngineFailed>
}

export interface EngineThread {
  readonly isAlive: () => boolean
  readonly begin: (job: EngineJob, onFrame: (frame: EngineFrame) => void) => Effect.Effect<RunningJob>
  /** Cancels the job and ends the thread; a thread that hangs in native code ends when that code returns. */
  readonly stop: Effect.Effect<void>
}

interface Current {
  readonly number: number
  readonly onFrame: (frame: EngineFrame) => void
  readonly ended: Deferred.Deferred<Ended, EngineFailed>
}

// Samples are outside the heap: a young generation that grows to its default of 48 MB would only hold garbage.
const maxYoungGenerationSizeMb = 4
// A callback comes every few milliseconds; stopping a pool does not wait for a thread that hangs.
const stopMsMax = 1_000

/** A thread and the job in it. */
interface State {
  readonly options: ThreadOptions
  readonly worker: Worker
  /** Shared with the thread: the number of the cancelled job. */
  readonly cancelled: Int32Array
  /** Stops what computes without a callback. */
  interrupt: () => void
  readonly ready: Deferred.Deferred<void, EngineMissing | EngineFailed>
  readonly exited: Deferred.Deferred<void>
  isAlive: boolean
  current: Current | undefined
  jobs: number
}

export const startThread = Effect.fnUntraced(function* (options: ThreadOptions) {
  const state = launch(options)
  yield* Deferred.await(state.ready).pipe(Effect.onError(() => stop(state)))
  const thread: EngineThread = {
    isAlive: () => state.isAlive,
    begin: (job, onFrame) => begin(state, job, onFrame),
    stop: stop(state)
  }
  return thread
})

const launch = (options: ThreadOptions): State => {
  const cancelled = new Int32Array(new SharedArrayBuffer(4))
  const data: ThreadData = {
    cancelled,
    speaks: options.speaks,
    ...(options.model === undefined ? {} : { model: options.model })
  }
  const entry = options.entry ?? new URL("./thread.ts", import.meta.url)
  const worker = new Worker(entry, {
    workerData: data,
    name: options.engine,
    resourceLimits: { maxYoungGenerationSizeMb }
  })
  const state: State = {
    options,
    worker,
    cancelled,
    interrupt: () => {},
    ready: Deferred.makeUnsafe(),
    exited: Deferred.makeUnsafe(),
    isAlive: true,
    current: undefined,
    jobs: 0
  }
  worker.on("message", (message: FromThread) => receive(state, message))
  worker.on("error", (error: unknown) => {
    const missing = missingPackage(options, error)
    if (missing !== undefined) Deferred.doneUnsafe(state.ready, Effect.fail(missing))
    die(state, error instanceof Error ? error.message : String(error))
  })
  worker.on("exit", (code) => {
    Deferred.doneUnsafe(state.exited, Effect.void)
    die(state, `the thread ended with code ${code}`)
  })
  return state
}

const receive = (state: State, message: FromThread) => {
  const { options, ready, current } = state
  if (message.kind === "ready") {
    if (message.stop !== undefined) void interruptBy(state, message.stop)
    return Deferred.doneUnsafe(ready, Effect.void)
  }
  if (message.kind === "log") return options.onLog?.(message.line)
  if (message.kind === "missing") {
    const { engine, packages } = options
    return Deferred.doneUnsafe(ready, Effect.fail(new EngineMissing({ engine, packages, detail: message.detail })))
  }
  if (current?.number !== message.number) return
  if (message.kind === "frame") return current.onFrame(message.frame)
  Deferred.doneUnsafe(current.ended, Effect.succeed(message))
  state.current = undefined
}

/** Only who has such an engine loads the package; without it the thread would not be ready. */
const interruptBy = async (state: State, stop: NativeCall) => {
  const { default: koffi } = await import("koffi")
  // Without a library koffi has no stack to call with.
  koffi.load(null)
  const call = koffi.decode(stop.function, koffi.proto("void *(void *)"))
  state.interrupt = () => void call(stop.argument)
}

const cancel = ({ cancelled, interrupt }: State, number: number) => {
  Atomics.store(cancelled, 0, number)
  interrupt()
}

const die = (state: State, detail: string) => {
  state.isAlive = false
  const crashed = new EngineFailed({ engine: state.options.engine, reason: "crashed", detail })
  Deferred.doneUnsafe(state.ready, Effect.fail(crashed))
  if (state.current !== undefined) Deferred.doneUnsafe(state.current.ended, Effect.fail(crashed))
  state.current = undefined
}

const begin = (state: State, job: EngineJob, onFrame: (frame: EngineFrame) => void) =>
  Effect.sync((): RunningJob => {
    state.jobs += 1
    const number = state.jobs
    const ended = Deferred.makeUnsafe<Ended, EngineFailed>()
    state.current = { number, onFrame, ended }
    state.worker.postMessage({ number, job } satisfies ToThread, [])
    return {
      cancel: Effect.sync(() => cancel(state, number)),
      ended: Deferred.await(ended)
    }
  })

/**
 * The thread ends by itself: terminated within a callback of the engine's code it would take down the entire process.
 */
const stop = (state: State) =>
  Effect.suspend(() => {
    const { current, exited, isAlive, worker } = state
    if (isAlive) {
      cancel(state, current?.number ?? warmUpNumber)
      worker.postMessage("end" satisfies ToThread, [])
    }
    die(state, "stopped")
    // Until it has ended the process waits for it: an exit during its clean-up would abort the process.
    return Effect.ensuring(
      Effect.asVoid(Effect.timeoutOption(Deferred.await(exited), stopMsMax)),
      Effect.sync(() => worker.unref())
    )
  })

/** Without the package that loads libraries the thread fails at its first import. */
const missingPackage = (options: ThreadOptions, error: unknown) => {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_MODULE_NOT_FOUND") return undefined
  return new EngineMissing({ engine: options.engine, packages: "npm's koffi", detail: error.message })
}
