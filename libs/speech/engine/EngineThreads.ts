/**
 * An engine made of threads. As many jobs run at once as there are threads, a bounded number waits, the rest is
 * told `EngineBusy`. A thread that dies or hangs fails its job, retryably, and is replaced. A reader may fall
 * behind by its whole job and no more: that is a chunk of text, capped at ten minutes of audio in the thread.
 */
import { Effect, Queue, Scope, Semaphore, Stream } from "effect"
import type { Metrics } from "#runtime"
import { countJobs } from "./count-jobs.ts"
import type { Engine_, EngineFrame, EngineJob } from "./Engine.ts"
import { type EngineThread, type RunningJob, startThread, type ThreadOptions } from "./EngineThread.ts"
import { EngineBusy, type EngineError, EngineFailed, type EngineMissing } from "./errors.ts"

export interface EngineThreadsOptions extends ThreadOptions {
  /** Default 1: a thread speaks some hundred times faster than anybody listens. */
  readonly threads?: number
  /** Jobs that may wait for a thread, default 64: with chunks of some milliseconds, less than a second. */
  readonly waitingMax?: number
  /** A job that works longer hangs, default 30 s: the longest possible one takes half of it. */
  readonly jobMsMax?: number
  /** A cancelled job that has not ended after so long loses its thread, default 2 s. */
  readonly cancelMsMax?: number
}

/** A place for a thread; the thread in it changes when one dies. */
interface Place {
  thread: EngineThread
}

export const openEngineThreads = (
  options: EngineThreadsOptions
): Effect.Effect<Engine_, EngineMissing | EngineFailed, Scope.Scope | Metrics> =>
  Effect.gen(function* () {
    const { engine, threads = 1, waitingMax = 64, jobMsMax = 30_000, cancelMsMax = 2_000 } = options
    const counted = yield* countJobs(engine)
    const idle = yield* Queue.unbounded<Place>()
    // One after the other: the libraries' own initialisation knows no threads.
    const starting = yield* Semaphore.make(1)
    const start = starting.withPermit(startThread(options))
    for (let index = 0; index < threads; index++) {
      const place: Place = yield* Effect.acquireRelease(
        Effect.map(start, (thread) => ({ thread })),
        ({ thread }) => thread.stop
      )
      Queue.offerUnsafe(idle, place)
    }
    // For places on their way back alone, and empty in between: a map that is added to and taken from for ever goes
    // through one table after another, and a dead one keeps those after it, with what they held, until a slow collection.
    const leaving = yield* Scope.fork(yield* Effect.scope)

    let waiting = 0
    const take = Effect.suspend((): Effect.Effect<Place, EngineBusy> => {
      if (waiting >= waitingMax && Queue.sizeUnsafe(idle) === 0) {
        counted.refused()
        return Effect.fail(new EngineBusy({ engine, waiting }))
      }
      waiting += 1
      return Effect.ensuring(
        Queue.take(idle),
        Effect.sync(() => (waiting -= 1))
      )
    })
    const revive = Effect.fnUntraced(function* (place: Place) {
      if (place.thread.isAlive()) return
      place.thread = yield* start
      counted.replaced()
    })
    /** Gives the place back when its thread has come out of the engine; a thread that does not is given up. */
    const giveBack = (place: Place, running: RunningJob) =>
      running.cancel.pipe(
        Effect.andThen(Effect.exit(running.ended)),
        Effect.timeoutOrElse({ duration: cancelMsMax, orElse: () => place.thread.stop }),
        Effect.andThen(Effect.exit(revive(place))),
        Effect.ensuring(Effect.sync(() => Queue.offerUnsafe(idle, place))),
        Effect.forkIn(leaving)
      )
    const run = (job: EngineJob, place: Place, onFrame: (frame: EngineFrame) => void) =>
      Effect.acquireRelease(counted.begun(place.thread.begin(job, onFrame)), (running) =>
        Effect.andThen(giveBack(place, running), counted.left)
      )

    const begin = Effect.fnUntraced(function* (
      job: EngineJob,
      onFrame: (frame: EngineFrame) => void,
      restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
    ) {
      const place = yield* restore(take)
      yield* Effect.onError(revive(place), () => Effect.sync(() => Queue.offerUnsafe(idle, place)))
      return yield* run(job, place, onFrame)
    })

    const speak = Effect.fnUntraced(function* (job: EngineJob, onFrame: (frame: EngineFrame) => void) {
      const running = yield* Effect.uninterruptibleMask((restore) => begin(job, onFrame, restore))
      const ended = yield* running.ended.pipe(
        Effect.timeoutOrElse({ duration: jobMsMax, orElse: () => Effect.fail(stalled(engine, jobMsMax)) }),
        Effect.onExit((exit) => Effect.sync(() => counted.outcome(exit)))
      )
      if (ended.outcome.kind !== "failed") return
      return yield* new EngineFailed({ engine, reason: ended.outcome.reason, detail: ended.outcome.detail })
    })
    return {
      name: engine,
      synthesize: (job) =>
        Stream.callback<EngineFrame, EngineError>(
          (queue) =>
            speak(job, (frame) => Queue.offerUnsafe(queue, frame)).pipe(
              Effect.andThen(Queue.end(queue)),
              Effect.catch((error) => Queue.fail(queue, error))
            ),
          { bufferSize: Number.POSITIVE_INFINITY }
        )
    }
  })

const stalled = (engine: string, jobMsMax: number) =>
  new EngineFailed({ engine, reason: "stalled", detail: `no end after ${jobMsMax} ms` })
