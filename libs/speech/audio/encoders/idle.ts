/**
 * Idle encoders of the pool wait for work, as many of each kind as demand requires. One loop starts missing ones,
 * another ends surplus ones. A kind whose encoder failed to start is not tried again until the next request for it.
 */
import { Clock, Effect, Queue, Scope, Semaphore } from "effect"
import { Metrics } from "#runtime"
import { EncoderOverloaded } from "../errors.ts"
import type { FfmpegOptions } from "./ffmpeg-process.ts"
import { type LameOptions, type LameProcesses, makeLameProcesses } from "./lame-process.ts"
import { type LossyEncoder, startLossyEncoder } from "./lossy-encoder.ts"
import { encoderMisses, encoderPoolDepth, encoderStart } from "./metrics.ts"
import type { EncoderPlan } from "./plan.ts"

interface IdleOptions extends FfmpegOptions, LameOptions {
  readonly processesMax: number
  readonly depthMax: number
  /** Kept ready even without requests. */
  readonly always: ReadonlyArray<{ readonly plan: EncoderPlan; readonly depthMin: number }>
}

interface IdleEncoders {
  /** An idle encoder, else one started now. */
  readonly take: (plan: EncoderPlan) => Effect.Effect<LossyEncoder, EncoderOverloaded>
  /** Makes the encoder idle again if possible; otherwise it is killed. */
  readonly putBack: (plan: EncoderPlan, encoder: LossyEncoder) => void
  /** Sets how many are in use. */
  readonly setRunning: (processes: number) => void
}

const clearEvery = "5 seconds"
// The request that caused the refill goes first.
const refillAfter = "10 millis"
// More at once only compete for the processor with each other and with the encoders in use. The bound also spares the
// event loop, which blocks until a new process has got its first slice of a busy processor.
const startsAtOnce = 4
const startWithin = "10 seconds"
// A slow start does not mean a full pool: a request with a slot waits for its turn as long as one start can take.
const turnMsMax = 10_000
// A Debian ffmpeg with its 215 libraries, until ours is measured.
const startSecondsAssumed = 0.07

/** The encoders end with the scope. */
export const makeIdleEncoders = Effect.fnUntraced(function* (
  options: IdleOptions
): Effect.fn.Return<IdleEncoders, never, Metrics | Scope.Scope> {
  const idle = yield* makeIdle(options)
  yield* Effect.addFinalizer(() => endAll(idle))
  for (const { plan, depthMin } of options.always) kindOf(idle, plan).depthMin = depthMin
  const nextChange = Queue.take(idle.changes).pipe(
    Effect.andThen(Effect.sleep(refillAfter)),
    Effect.timeoutOption(clearEvery)
  )
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(fill(idle), nextChange)))
  yield* Effect.forkScoped(Effect.forever(Effect.delay(clear(idle), clearEvery)))
  return {
    take: (plan) => take(idle, plan),
    putBack: (plan, encoder) => putBack(idle, plan, encoder),
    setRunning: (processes) => (idle.running = processes)
  }
})

interface Kind {
  readonly plan: EncoderPlan
  depthMin: number
  demand: Demand
  encoders: ReadonlyArray<LossyEncoder>
  isBroken: boolean
}

interface Idle extends Effect.Success<ReturnType<typeof makeIdle>> {}

const makeIdle = Effect.fnUntraced(function* (options: IdleOptions) {
  const metrics = yield* Metrics
  const lame: LameProcesses = yield* makeLameProcesses(options)
  return {
    options,
    lame,
    clock: yield* Clock.Clock,
    depth: metrics.gauge(encoderPoolDepth),
    misses: metrics.counter(encoderMisses),
    startSeconds: metrics.histogram(encoderStart),
    kinds: new Map<string, Kind>(),
    /** Signals that an encoder was taken. */
    changes: yield* Queue.sliding<void>(1),
    scope: yield* Scope.Scope,
    turns: yield* Semaphore.make(startsAtOnce),
    startAverage: startSecondsAssumed,
    /** Requests that wait for their turn to start an encoder: meanwhile none is started ahead. */
    startsWaiting: 0,
    running: 0
  }
})

const kindOf = ({ kinds }: Idle, plan: EncoderPlan): Kind => {
  const known = kinds.get(plan.key)
  if (known !== undefined) return known
  const kind: Kind = { plan, depthMin: 0, demand: noDemand, encoders: [], isBroken: false }
  kinds.set(plan.key, kind)
  return kind
}

const setEncoders = ({ depth }: Idle, kind: Kind, encoders: ReadonlyArray<LossyEncoder>) => {
  kind.encoders = encoders
  depth.set({ encoder: kind.plan.key }, encoders.length)
}

const waiting = ({ kinds }: Idle) => [...kinds.values()].reduce((total, { encoders }) => total + encoders.length, 0)

const take = Effect.fnUntraced(function* (idle: Idle, plan: EncoderPlan) {
  const { clock, changes, misses, options } = idle
  const kind = kindOf(idle, plan)
  kind.demand = withArrival(kind.demand, clock.currentTimeMillisUnsafe())
  kind.isBroken = false
  yield* Queue.offer(changes, undefined)
  const alive = kind.encoders.filter((encoder) => !encoder.process.hasEnded())
  // The most recently used one, so that the others age and can be ended.
  const found = alive.findLast((encoder) => encoder.process.hasStarted()) ?? alive[0]
  const others = alive.filter((encoder) => encoder !== found)
  setEncoders(idle, kind, others)
  misses.begin({ encoder: plan.key })
  if (found?.process.hasStarted() !== true) misses.inc({ encoder: plan.key })
  if (found !== undefined) return found
  if (idle.running + waiting(idle) >= options.processesMax) makeRoom(idle)
  idle.startsWaiting += 1
  return yield* Effect.ensuring(
    start(idle, plan),
    Effect.sync(() => (idle.startsWaiting -= 1))
  )
})

/** Ends an idle encoder of the kind that has the most. */
const makeRoom = (idle: Idle) => {
  const [fullest] = [...idle.kinds.values()].toSorted((left, right) => right.encoders.length - left.encoders.length)
  if (fullest === undefined) return
  fullest.encoders[0]?.process.kill()
  setEncoders(idle, fullest, fullest.encoders.slice(1))
}

/** Starts an encoder when its turn comes, and returns before it is ready: its pipe keeps the input until then. */
const start = Effect.fnUntraced(function* ({ turns, options, lame, scope }: Idle, plan: EncoderPlan) {
  const { processesMax } = options
  yield* Effect.interruptible(Semaphore.take(turns, 1)).pipe(
    Effect.timeoutOrElse({
      duration: turnMsMax,
      orElse: () => Effect.fail(new EncoderOverloaded({ lacks: "starts", processesMax, waitMsMax: turnMsMax }))
    })
  )
  const encoder = yield* startLossyEncoder(plan, options, lame)
  yield* encoder.process.started.pipe(
    Effect.timeoutOption(startWithin),
    Effect.ignore,
    Effect.ensuring(Semaphore.release(turns, 1)),
    Effect.forkIn(scope)
  )
  return encoder
}, Effect.uninterruptible)

const putBack = (idle: Idle, plan: EncoderPlan, encoder: LossyEncoder) => {
  const kind = kindOf(idle, plan)
  if (!encoder.isReusable() || kind.encoders.length >= idle.options.depthMax) return encoder.process.kill()
  setEncoders(idle, kind, [...kind.encoders, encoder])
}

/** Starts the missing encoders. */
const fill = (idle: Idle) =>
  Effect.suspend(() =>
    Effect.forEach(lacking(idle), (kind) => tryStart(idle, kind), { concurrency: startsAtOnce, discard: true })
  ).pipe(Effect.repeat({ while: () => lacking(idle).length > 0 }))

const lacking = (idle: Idle) =>
  (idle.startsWaiting > 0 ? [] : [...idle.kinds.values()])
    .filter((kind) => !kind.isBroken && kind.encoders.length < wanted(idle, kind))
    .slice(0, Math.min(startsAtOnce, Math.max(0, idle.options.processesMax - idle.running - waiting(idle))))

const wanted = ({ clock, startAverage, options }: Idle, { demand, depthMin }: Kind) =>
  depthFor(demand, clock.currentTimeMillisUnsafe(), {
    startSeconds: startAverage,
    depthMin,
    depthMax: options.depthMax
  })

const tryStart = (idle: Idle, kind: Kind) =>
  startSpare(idle, kind).pipe(
    Effect.catch((error) => {
      kind.isBroken = true
      return Effect.logWarning("encoder does not start").pipe(
        Effect.annotateLogs({ encoder: kind.plan.key, error: error.message })
      )
    })
  )

const startSpare = Effect.fnUntraced(function* (idle: Idle, kind: Kind) {
  const { clock, startSeconds } = idle
  const encoder = yield* start(idle, kind.plan).pipe(
    Effect.tap((encoder) => Effect.sync(() => setEncoders(idle, kind, [...kind.encoders, encoder]))),
    Effect.uninterruptible
  )
  const begin = clock.monotonicTimeNanosUnsafe()
  yield* encoder.process.started.pipe(
    Effect.timeout(startWithin),
    Effect.tapError(() => Effect.sync(encoder.process.kill))
  )
  const seconds = Number(clock.monotonicTimeNanosUnsafe() - begin) / 1e9
  startSeconds.observe({ encoder: kind.plan.key }, seconds)
  if (idle.startAverage === startSecondsAssumed) {
    yield* Effect.logInfo("encoder started").pipe(
      Effect.annotateLogs({ encoder: kind.plan.key, startMs: Math.round(seconds * 1_000) })
    )
  }
  idle.startAverage += (seconds - idle.startAverage) / 8
})

/** Ends some of the surplus encoders. */
const clear = (idle: Idle) =>
  Effect.sync(() => {
    for (const kind of idle.kinds.values()) clearKind(idle, kind)
  })

const clearKind = (idle: Idle, kind: Kind) => {
  const alive = kind.encoders.filter((encoder) => !encoder.process.hasEnded())
  // Half of them: the current surplus may be needed in a moment.
  const leaving = Math.ceil(Math.max(0, alive.length - wanted(idle, kind)) / 2)
  for (const encoder of alive.slice(0, leaving)) encoder.process.kill()
  setEncoders(idle, kind, alive.slice(leaving))
}

const endAll = ({ kinds }: Idle) =>
  Effect.forEach(
    [...kinds.values()].flatMap(({ encoders }) => encoders),
    ({ process }) => Effect.andThen(Effect.sync(process.kill), process.closed).pipe(Effect.timeoutOption("2 seconds")),
    { concurrency: "unbounded", discard: true }
  )

/** How often a kind is requested. */
interface Demand {
  readonly quickPerSecond: number
  readonly slowPerSecond: number
  readonly atMs: number
}

const quickSeconds = 2
const slowSeconds = 30
// One request in 200 s: below that none is kept ready.
const idlePerSecond = 1 / 200

export const noDemand: Demand = { quickPerSecond: 0, slowPerSecond: 0, atMs: 0 }

const decayed = (demand: Demand, nowMs: number): Demand => {
  const seconds = Math.max(0, nowMs - demand.atMs) / 1_000
  return {
    quickPerSecond: demand.quickPerSecond * Math.exp(-seconds / quickSeconds),
    slowPerSecond: demand.slowPerSecond * Math.exp(-seconds / slowSeconds),
    atMs: nowMs
  }
}

export const withArrival = (demand: Demand, nowMs: number): Demand => {
  const { quickPerSecond, slowPerSecond } = decayed(demand, nowMs)
  return {
    quickPerSecond: quickPerSecond + 1 / quickSeconds,
    slowPerSecond: slowPerSecond + 1 / slowSeconds,
    atMs: nowMs
  }
}

interface DepthLimits {
  readonly startSeconds: number
  readonly depthMin: number
  readonly depthMax: number
}

/**
 * How many encoders to keep ready: as many as are requested while one starts, plus twice the spread of that number,
 * because requests come in clumps. The rate is the larger of two averages: a quick one that detects the start of a
 * rush, and a slow one that remembers it. Pure.
 */
export const depthFor = (demand: Demand, nowMs: number, limits: DepthLimits): number => {
  const { quickPerSecond, slowPerSecond } = decayed(demand, nowMs)
  const perSecond = Math.max(quickPerSecond, slowPerSecond)
  if (perSecond < idlePerSecond) return Math.min(limits.depthMin, limits.depthMax)
  const whileStarting = perSecond * limits.startSeconds
  const depth = Math.ceil(whileStarting + 2 * Math.sqrt(whileStarting))
  return Math.min(limits.depthMax, Math.max(1, limits.depthMin, depth))
}
