/**
 * An engine made of threads. As many jobs run at once as there are threads, a bounded number waits, and the rest fails
 * with `EngineBusy`. A thread that dies or hangs fails its job, retryably, and is replaced. A reader can fall behind by
 * at most one entire job: a chunk of text, which the thread caps at ten minutes of audio.
 */
import { Effect, Exit, Queue, Scope, Semaphore, Stream } from "effect"
import { defineCounter, defineGauge, defineHistogram, Metrics } from "#runtime"
import {
  EngineBusy,
  type EngineError,
  EngineFailed,
  type EngineFrame,
  type EngineJob,
  type EngineMissing,
  type SpeechEngine
} from "./Engine.ts"
import { type EngineThread, type RunningJob, startThread, type ThreadOptions } from "./EngineThread.ts"
import { type Ended, engineHz } from "./worker/protocol.ts"

export interface EnginePoolOptions extends ThreadOptions {
  /** Default 1: a thread speaks some hundred times faster than a listener listens. */
  readonly threads?: number
  readonly isRepeatable?: boolean
  /** Jobs that can wait for a thread, default 64: with chunks of some milliseconds, less than a second. */
  readonly waitingMax?: number
  /** A job that runs longer counts as hanging, default 30 s: the longest possible one takes half of it. */
  readonly jobMsMax?: number
  /** Starts a thread in place of one that died; by default the same start at once. */
  readonly restart?: (start: StartThread) => StartThread
  /** A cancelled job that has not ended after this time loses its thread, default 2 s. */
  readonly cancelMsMax?: number
}

type StartThread = Effect.Effect<EngineThread, EngineMissing | EngineFailed>

/** A slot for a thread; the thread in it changes when one dies. */
interface Slot {
  thread: EngineThread
}

/** The threads of one engine, and the jobs that wait for them. */
interface Pool {
  readonly options: Required<Pick<EnginePoolOptions, "engine" | "waitingMax" | "jobMsMax" | "cancelMsMax">>
  readonly counted: JobCounts
  readonly idle: Queue.Queue<Slot>
  readonly restart: StartThread
  /**
   * Holds only slots being returned, and is empty in between. A map with endless additions and removals goes through
   * one table after another; a dead table keeps those after it, with their content, until a slow collection.
   */
  readonly leaving: Scope.Scope
  waiting: number
}

export const openEnginePool = (
  options: EnginePoolOptions
): Effect.Effect<SpeechEngine, EngineMissing | EngineFailed, Scope.Scope | Metrics> =>
  Effect.gen(function* () {
    const { engine, threads = 1, waitingMax = 64, jobMsMax = 30_000, cancelMsMax = 2_000 } = options
    // Threads start one after the other: the libraries' own initialization is not thread-safe.
    const starting = yield* Semaphore.make(1)
    const start: StartThread = starting.withPermit(startThread(options))
    const pool: Pool = {
      options: { engine, waitingMax, jobMsMax, cancelMsMax },
      counted: yield* countJobs(engine),
      idle: yield* Queue.unbounded<Slot>(),
      restart: options.restart?.(start) ?? start,
      leaving: yield* Scope.fork(yield* Effect.scope),
      waiting: 0
    }
    for (let index = 0; index < threads; index++) {
      const slot: Slot = yield* Effect.acquireRelease(
        Effect.map(start, (thread) => ({ thread })),
        ({ thread }) => thread.stop
      )
      Queue.offerUnsafe(pool.idle, slot)
    }
    return {
      name: engine,
      isRepeatable: options.isRepeatable ?? false,
      synthesize: (job) =>
        Stream.callback<EngineFrame, EngineError>(
          (queue) =>
            speak(pool, job, (frame) => Queue.offerUnsafe(queue, frame)).pipe(
              Effect.andThen(Queue.end(queue)),
              Effect.catch((error) => Queue.fail(queue, error))
            ),
          { bufferSize: Number.POSITIVE_INFINITY }
        )
    }
  })

type OnFrame = (frame: EngineFrame) => void

const speak = Effect.fnUntraced(function* (pool: Pool, job: EngineJob, onFrame: OnFrame) {
  const { engine, jobMsMax } = pool.options
  const running = yield* Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(acquire(pool, restore), (slot) => run(pool, slot, { job, onFrame }))
  )
  const ended = yield* running.ended.pipe(
    Effect.timeoutOrElse({ duration: jobMsMax, orElse: () => Effect.fail(stalled(engine, jobMsMax)) }),
    Effect.onExit((exit) => Effect.sync(() => pool.counted.outcome(exit, job)))
  )
  if (ended.outcome.kind !== "failed") return
  return yield* new EngineFailed({ engine, reason: ended.outcome.reason, detail: ended.outcome.detail })
})

/** A slot with a living thread in it. */
const acquire = Effect.fnUntraced(function* (
  pool: Pool,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
) {
  const slot = yield* restore(take(pool))
  yield* Effect.onError(revive(pool, slot), () => Effect.sync(() => Queue.offerUnsafe(pool.idle, slot)))
  return slot
})

const take = (pool: Pool) =>
  Effect.suspend((): Effect.Effect<Slot, EngineBusy> => {
    const { counted, idle, options, waiting } = pool
    if (waiting >= options.waitingMax && Queue.sizeUnsafe(idle) === 0) {
      counted.refused()
      return Effect.fail(new EngineBusy({ engine: options.engine, waiting }))
    }
    pool.waiting += 1
    return Effect.ensuring(
      Queue.take(idle),
      Effect.sync(() => (pool.waiting -= 1))
    )
  })

const revive = Effect.fnUntraced(function* ({ restart, counted }: Pool, slot: Slot) {
  if (slot.thread.isAlive()) return
  // It can wait before it starts: neither a caller that leaves nor the end of the pool waits for that.
  slot.thread = yield* Effect.interruptible(restart)
  counted.replaced()
})

const run = (pool: Pool, slot: Slot, { job, onFrame }: { readonly job: EngineJob; readonly onFrame: OnFrame }) =>
  Effect.acquireRelease(pool.counted.begun(slot.thread.begin(job, onFrame)), (running) =>
    Effect.andThen(release(pool, slot, running), pool.counted.left)
  )

/** Returns the slot once its thread has come out of the engine; a thread that stays inside is abandoned. */
const release = (pool: Pool, slot: Slot, running: RunningJob) =>
  running.cancel.pipe(
    Effect.andThen(Effect.exit(running.ended)),
    Effect.timeoutOrElse({ duration: pool.options.cancelMsMax, orElse: () => slot.thread.stop }),
    Effect.andThen(Effect.exit(revive(pool, slot))),
    Effect.ensuring(Effect.sync(() => Queue.offerUnsafe(pool.idle, slot))),
    Effect.forkIn(pool.leaving)
  )

const stalled = (engine: string, jobMsMax: number) =>
  new EngineFailed({ engine, reason: "stalled", detail: `no end after ${jobMsMax} ms` })

const synthesisSeconds = defineHistogram({
  name: "speech_engine_synthesis_seconds",
  help: "Time an engine's thread was busy with one job, by engine.",
  labels: ["engine"],
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const realTimeFactor = defineHistogram({
  name: "speech_engine_real_time_factor",
  help: "Seconds of work for one second of audio, by engine; jobs that were spoken to their end.",
  labels: ["engine"],
  buckets: [0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1, 2]
})

const jobsRunning = defineGauge({
  name: "speech_engine_jobs_running",
  help: "Jobs that a thread works on now, by engine.",
  labels: ["engine"]
})

const jobsEnded = defineCounter({
  name: "speech_engine_jobs_total",
  help: "Jobs by engine and how they ended: spoken, cancelled, failed, busy.",
  labels: ["engine", "outcome"],
  values: { outcome: ["spoken", "cancelled", "failed", "busy"] }
})

const threadsReplaced = defineCounter({
  name: "speech_engine_threads_replaced_total",
  help: "Threads started in place of one that died or hung, by engine.",
  labels: ["engine"]
})

const pronunciations = defineCounter({
  name: "speech_pronunciations_total",
  help: "Words spoken that had phonemes of their own, by engine and by what was spoken: those phonemes, or the text where the engine reads none.",
  labels: ["engine", "spoken"],
  values: { spoken: ["phonemes", "text"] }
})

export const engineMetrics = [synthesisSeconds, realTimeFactor, jobsRunning, jobsEnded, threadsReplaced, pronunciations]

/** Updates an engine's metrics as its jobs come and go. */
const countJobs = Effect.fnUntraced(function* (engine: string) {
  const metrics = yield* Metrics
  const running = metrics.gauge(jobsRunning)
  const seconds = metrics.histogram(synthesisSeconds)
  const factor = metrics.histogram(realTimeFactor)
  const ended = metrics.counter(jobsEnded)
  const replaced = metrics.counter(threadsReplaced)
  const pronounced = metrics.counter(pronunciations)
  ended.begin({ engine })
  replaced.begin({ engine })
  pronounced.begin({ engine })
  let count = 0
  const change = (by: number) => {
    count += by
    running.set({ engine }, count)
  }
  change(0)
  return {
    begun: <A, E, R>(begin: Effect.Effect<A, E, R>) => Effect.tap(begin, () => Effect.sync(() => change(1))),
    left: Effect.sync(() => change(-1)),
    replaced: () => replaced.inc({ engine }),
    refused: () => ended.inc({ engine, outcome: "busy" }),
    outcome: (exit: Exit.Exit<Ended, unknown>, { frames, pieces }: EngineJob) => {
      if (Exit.isFailure(exit)) {
        return ended.inc({ engine, outcome: Exit.hasInterrupts(exit) ? "cancelled" : "failed" })
      }
      const { outcome, busyMs, samples, readsPhonemes } = exit.value
      // A job in parts reports its words once.
      const said = frames?.from === undefined ? pieces : []
      const words = said.reduce((sum, piece) => sum + (piece.pronunciations?.length ?? 0), 0)
      if (words > 0) pronounced.inc({ engine, spoken: readsPhonemes ? "phonemes" : "text" }, words)
      ended.inc({ engine, outcome: outcome.kind })
      seconds.observe({ engine }, busyMs / 1000)
      if (outcome.kind === "spoken" && samples > 0) factor.observe({ engine }, busyMs / 1000 / (samples / engineHz))
    }
  }
})

type JobCounts = Effect.Success<ReturnType<typeof countJobs>>
