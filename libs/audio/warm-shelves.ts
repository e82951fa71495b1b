/**
 * The encoders that wait, one shelf per kind, and the loop that fills the shelves and clears them. A shelf
 * whose encoder would not start is left alone until somebody asks for it again.
 */
import { Clock, Effect, Queue, Scope, Semaphore } from "effect"
import { Metrics } from "#runtime"
import { type Demand, depthFor, noDemand, withArrival } from "./demand.ts"
import type { EncoderPlan } from "./encoder-plan.ts"
import { EncoderOverloaded } from "./errors.ts"
import type { FfmpegOptions } from "./ffmpeg-process.ts"
import { type LossyEncoder, startLossyEncoder } from "./lossy-encoder.ts"
import { encoderMisses, encoderPoolDepth, encoderStart } from "./metrics.ts"

export interface ShelfLimits extends FfmpegOptions {
  readonly processesMax: number
  readonly waitMsMax: number
  readonly depthMax: number
}

interface Shelf {
  readonly plan: EncoderPlan
  depthMin: number
  demand: Demand
  encoders: ReadonlyArray<LossyEncoder>
  isBroken: boolean
}

export interface WarmShelves {
  /** One that waits, else one started now. */
  readonly take: (plan: EncoderPlan) => Effect.Effect<LossyEncoder, EncoderOverloaded>
  /** To wait again, if it can; else it is killed. */
  readonly putBack: (plan: EncoderPlan, encoder: LossyEncoder) => void
  readonly setRunning: (processes: number) => void
  readonly demandAtLeast: (plan: EncoderPlan, depthMin: number) => void
  /** Starts what lacks. */
  readonly fill: Effect.Effect<void>
  /** Ends some of what is too much. */
  readonly clear: Effect.Effect<void>
  /** Waits until something was taken, or might have died. */
  readonly nextChange: Effect.Effect<unknown>
}

const clearEvery = "5 seconds"
// The request that caused the refill goes first.
const refillAfter = "10 millis"
// More at once only take the processor from each other and from the encoders at work. It also spares the
// event loop, which stands still until a new process has got its first slice of a busy processor.
const startsAtOnce = 4
const startWithin = "10 seconds"
// A start that is slow is no full house: who has a place waits for its turn as long as one start may take.
const turnMsMax = 10_000
// A Debian ffmpeg with its 215 libraries, until we have measured ours.
const startSecondsAssumed = 0.07

export const makeWarmShelves = Effect.fnUntraced(function* (
  limits: ShelfLimits
): Effect.fn.Return<WarmShelves, never, Metrics | Scope.Scope> {
  const { processesMax } = limits
  const metrics = yield* Metrics
  const depth = metrics.gauge(encoderPoolDepth)
  const misses = metrics.counter(encoderMisses)
  const startSeconds = metrics.histogram(encoderStart)
  const clock = yield* Clock.Clock
  const shelves = new Map<string, Shelf>()
  const changes = yield* Queue.sliding<void>(1)
  const scope = yield* Scope.Scope
  const turns = yield* Semaphore.make(startsAtOnce)
  let startAverage = startSecondsAssumed
  // Those with an answer to encode that wait for their turn to start one: nothing is started ahead meanwhile.
  let inNeed = 0
  let running = 0

  const shelfOf = (plan: EncoderPlan): Shelf => {
    const known = shelves.get(plan.key)
    if (known !== undefined) return known
    const shelf: Shelf = { plan, depthMin: 0, demand: noDemand, encoders: [], isBroken: false }
    shelves.set(plan.key, shelf)
    return shelf
  }
  const set = (shelf: Shelf, encoders: ReadonlyArray<LossyEncoder>) => {
    shelf.encoders = encoders
    depth.set({ encoder: shelf.plan.key }, encoders.length)
  }
  const waiting = () => [...shelves.values()].reduce((total, shelf) => total + shelf.encoders.length, 0)
  const wanted = (shelf: Shelf) =>
    depthFor(shelf.demand, clock.currentTimeMillisUnsafe(), {
      startSeconds: startAverage,
      depthMin: shelf.depthMin,
      depthMax: limits.depthMax
    })

  /** Ends one that waits, of the fullest shelf. */
  const makeRoom = () => {
    const [fullest] = [...shelves.values()].toSorted((left, right) => right.encoders.length - left.encoders.length)
    if (fullest === undefined) return
    fullest.encoders[0]?.process.kill()
    set(fullest, fullest.encoders.slice(1))
  }

  const take = Effect.fnUntraced(function* (plan: EncoderPlan) {
    const shelf = shelfOf(plan)
    shelf.demand = withArrival(shelf.demand, clock.currentTimeMillisUnsafe())
    shelf.isBroken = false
    yield* Queue.offer(changes, undefined)
    const alive = shelf.encoders.filter((encoder) => !encoder.process.hasEnded())
    // The one used last, so that the others grow old and can go.
    const found = alive.findLast((encoder) => encoder.process.hasStarted()) ?? alive[0]
    set(
      shelf,
      alive.filter((encoder) => encoder !== found)
    )
    if (found?.process.hasStarted() !== true) misses.inc({ encoder: plan.key })
    if (found !== undefined) return found
    if (running + waiting() >= limits.processesMax) makeRoom()
    inNeed += 1
    return yield* Effect.ensuring(
      start(plan),
      Effect.sync(() => (inNeed -= 1))
    )
  })

  /** Starts one when it is its turn, and answers before it is ready: what it is fed, it will find. */
  const start = Effect.fnUntraced(function* (plan: EncoderPlan) {
    yield* Effect.interruptible(Semaphore.take(turns, 1)).pipe(
      Effect.timeoutOrElse({
        duration: turnMsMax,
        orElse: () => Effect.fail(new EncoderOverloaded({ lacks: "starts", processesMax, waitMsMax: turnMsMax }))
      })
    )
    const encoder = yield* startLossyEncoder(plan, limits)
    yield* encoder.process.started.pipe(
      Effect.timeoutOption(startWithin),
      Effect.ignore,
      Effect.ensuring(Semaphore.release(turns, 1)),
      Effect.forkIn(scope)
    )
    return encoder
  }, Effect.uninterruptible)

  const putBack = (plan: EncoderPlan, encoder: LossyEncoder) => {
    const shelf = shelfOf(plan)
    if (!encoder.isReusable() || shelf.encoders.length >= limits.depthMax) return encoder.process.kill()
    set(shelf, [...shelf.encoders, encoder])
  }

  const startOne = Effect.fnUntraced(function* (shelf: Shelf) {
    const encoder = yield* start(shelf.plan).pipe(
      Effect.tap((encoder) => Effect.sync(() => set(shelf, [...shelf.encoders, encoder]))),
      Effect.uninterruptible
    )
    const begin = clock.monotonicTimeNanosUnsafe()
    yield* encoder.process.started.pipe(
      Effect.timeout(startWithin),
      Effect.tapError(() => Effect.sync(encoder.process.kill))
    )
    const seconds = Number(clock.monotonicTimeNanosUnsafe() - begin) / 1e9
    startSeconds.observe({ encoder: shelf.plan.key }, seconds)
    if (startAverage === startSecondsAssumed) {
      yield* Effect.logInfo("encoder started").pipe(
        Effect.annotateLogs({ encoder: shelf.plan.key, startMs: Math.round(seconds * 1_000) })
      )
    }
    startAverage += (seconds - startAverage) / 8
  })

  const tryStart = (shelf: Shelf) =>
    startOne(shelf).pipe(
      Effect.catch((error) => {
        shelf.isBroken = true
        return Effect.logWarning("encoder does not start").pipe(
          Effect.annotateLogs({ encoder: shelf.plan.key, error: error.message })
        )
      })
    )

  const clearShelf = (shelf: Shelf) => {
    const alive = shelf.encoders.filter((encoder) => !encoder.process.hasEnded())
    // Half of it: what is too much now may be just enough in a moment.
    const leaving = Math.ceil(Math.max(0, alive.length - wanted(shelf)) / 2)
    for (const encoder of alive.slice(0, leaving)) encoder.process.kill()
    set(shelf, alive.slice(leaving))
  }

  const lacking = () =>
    (inNeed > 0 ? [] : [...shelves.values()])
      .filter((shelf) => !shelf.isBroken && shelf.encoders.length < wanted(shelf))
      .slice(0, Math.min(startsAtOnce, Math.max(0, limits.processesMax - running - waiting())))

  const fill = Effect.suspend(() =>
    Effect.forEach(lacking(), tryStart, { concurrency: startsAtOnce, discard: true })
  ).pipe(Effect.repeat({ while: () => lacking().length > 0 }), Effect.asVoid)

  yield* Effect.addFinalizer(() =>
    Effect.forEach(
      [...shelves.values()].flatMap((shelf) => shelf.encoders),
      ({ process }) =>
        Effect.andThen(Effect.sync(process.kill), process.closed).pipe(Effect.timeoutOption("2 seconds")),
      { concurrency: "unbounded", discard: true }
    )
  )
  return {
    take,
    putBack,
    setRunning: (processes) => (running = processes),
    demandAtLeast: (plan, depthMin) => (shelfOf(plan).depthMin = depthMin),
    fill,
    clear: Effect.sync(() => {
      for (const shelf of shelves.values()) clearShelf(shelf)
    }),
    nextChange: Queue.take(changes).pipe(Effect.andThen(Effect.sleep(refillAfter)), Effect.timeoutOption(clearEvery))
  }
})

/** Keeps the shelves as demand wants them, for as long as the scope lives. */
export const keepWarm = Effect.fnUntraced(function* (
  shelves: WarmShelves,
  always: ReadonlyArray<{ readonly plan: EncoderPlan; readonly depthMin: number }>
) {
  for (const { plan, depthMin } of always) shelves.demandAtLeast(plan, depthMin)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(shelves.fill, shelves.nextChange)))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(shelves.clear, clearEvery)))
})
