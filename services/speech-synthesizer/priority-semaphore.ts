/**
 * Bounds the jobs that an engine works on at once. The job that is due soonest goes first: the listener of a session's
 * first chunk needs it now, while a chunk made ahead can wait as long as its listener has buffered audio. Jobs due at
 * the same time go first come, first served. A job in the background gets what the others leave: it runs alone among
 * its kind while a thread is free and none of the others has just ended, and is interrupted when one needs that thread
 * sooner than the job is likely to end.
 */
import { Deferred, Effect, Exit, Option } from "effect"

export interface PrioritySemaphore {
  /** `dueAtMs`: when the job's audio is needed. */
  readonly withPermit: <A, E, R>(dueAtMs: number, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Interrupted work starts again, after the other work in the background. */
  readonly inBackground: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Whether a waiting job is due by then; none in the background is. */
  readonly isAnyDue: (nowMs: number) => boolean
}

// A session requests its next chunk once it has one; an engine's thread may be slow to leave a job that is interrupted.
const quietMs = 50

// Until the first has ended: a sentence of a voice that is fast enough to be heard live.
const backgroundMsAssumed = 250
// Some take longer than the average; a job that waited for one of those would be late.
const backgroundTimes = 2
const newest = 1 / 4

interface SemaphoreOptions {
  readonly nowMs: () => number
  /** Jobs that the engine speaks at once. */
  readonly threads: number
  /** As many or more, so that a thread that becomes free has its next job at hand; can change at any time. */
  readonly permits: () => number
  /** Gets the number of waiting jobs whenever it changes, without those in the background. */
  readonly onWaiting?: (count: number) => void
}

interface Waiter {
  readonly dueAtMs: number
  readonly turn: Deferred.Deferred<void>
}

interface BackgroundWaiter {
  readonly turn: Deferred.Deferred<void>
  /** Done when its thread is needed. */
  readonly yields: Deferred.Deferred<void>
}

interface State extends Required<SemaphoreOptions> {
  taken: number
  /** In order of due time. Both lines together hold at most what the consumer can hold unacked, 1,000. */
  readonly line: Array<Waiter>
  readonly background: Array<BackgroundWaiter>
  running: BackgroundWaiter | undefined
  /** How long a job in the background took recently. */
  backgroundMs: number
  /** No other job has ended since the background waited for its quiet moment. */
  isQuiet: boolean
}

export const prioritySemaphore = (options: SemaphoreOptions): PrioritySemaphore => {
  const idle = { taken: 0, running: undefined, backgroundMs: backgroundMsAssumed, isQuiet: true }
  const state: State = { onWaiting: () => {}, ...options, ...idle, line: [], background: [] }
  const { line } = state
  const release = Effect.sync(() => {
    state.isQuiet = false
    grantNext(state)
  })
  const releaseInBackground = Effect.sync(() => {
    state.running = undefined
    grantNext(state)
  })
  const quiet = Effect.gen(function* () {
    if (!state.isQuiet) yield* Effect.sleep(quietMs)
    state.isQuiet = true
  })
  const inBackground = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const waiter: BackgroundWaiter = { turn: Deferred.makeUnsafe(), yields: Deferred.makeUnsafe() }
      const yielding = Effect.as(Deferred.await(waiter.yields), Option.none<A>())
      const once = Effect.raceFirst(Effect.andThen(quiet, Effect.asSome(timed(state, work))), yielding)
      return held(takeInBackground(state, waiter, releaseInBackground), once, releaseInBackground)
    }).pipe(Effect.flatMap((done) => (Option.isSome(done) ? Effect.succeed(done.value) : inBackground(work))))
  return {
    isAnyDue: (nowMs) => (line[0]?.dueAtMs ?? Number.POSITIVE_INFINITY) <= nowMs,
    withPermit: (dueAtMs, work) => held(take(state, dueAtMs, release), work, release),
    inBackground
  }
}

/** One that was interrupted would have taken longer. */
const timed = <A, E, R>(state: State, work: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const beganAtMs = state.nowMs()
    return Effect.onExit(work, (exit) =>
      Effect.sync(() => {
        const tookMs = state.nowMs() - beganAtMs
        if (Exit.isSuccess(exit)) state.backgroundMs += (tookMs - state.backgroundMs) * newest
        else state.backgroundMs = Math.max(state.backgroundMs, tookMs)
      })
    )
  })

const held = <A, E, R>(take: Effect.Effect<void>, work: Effect.Effect<A, E, R>, release: Effect.Effect<void>) =>
  Effect.uninterruptibleMask((restore) => Effect.andThen(restore(take), Effect.ensuring(restore(work), release)))

const take = (state: State, dueAtMs: number, release: Effect.Effect<void>) =>
  Effect.suspend(() => {
    const { line, nowMs, onWaiting, permits, running, threads } = state
    const waiter: Waiter = { dueAtMs, turn: Deferred.makeUnsafe() }
    if (state.taken < permits()) grant(state, waiter)
    else {
      const at = line.findLastIndex((other) => other.dueAtMs <= dueAtMs)
      line.splice(at + 1, 0, waiter)
      onWaiting(line.length)
    }
    const canWaitMs = backgroundTimes * state.backgroundMs
    const isNeeded = state.taken + line.length > threads && dueAtMs <= nowMs() + canWaitMs
    if (isNeeded && running !== undefined) Deferred.doneUnsafe(running.yields, Effect.void)
    return turnOf(waiter, line, release).pipe(Effect.onInterrupt(() => Effect.sync(() => onWaiting(line.length))))
  })

const takeInBackground = (state: State, waiter: BackgroundWaiter, release: Effect.Effect<void>) =>
  Effect.suspend(() => {
    state.background.push(waiter)
    grantInBackground(state)
    return turnOf(waiter, state.background, release)
  })

/** Interrupted while waiting, it leaves the line, or passes on a permit granted at that very moment. */
const turnOf = <W extends Pick<Waiter, "turn">>(waiter: W, line: Array<W>, release: Effect.Effect<void>) =>
  Effect.onInterrupt(Deferred.await(waiter.turn), () => {
    const at = line.indexOf(waiter)
    if (at < 0) return release
    line.splice(at, 1)
    return Effect.void
  })

const grant = (state: State, { turn }: Pick<Waiter, "turn">) => {
  state.taken += 1
  Deferred.doneUnsafe(turn, Effect.void)
}

/** After a permit was returned. */
const grantNext = (state: State) => {
  const { line, onWaiting, permits } = state
  state.taken -= 1
  while (state.taken < permits() && line.length > 0) {
    const next = line.shift()
    onWaiting(line.length)
    if (next !== undefined) grant(state, next)
  }
  grantInBackground(state)
}

const grantInBackground = (state: State) => {
  const { background, line, running, taken, threads } = state
  if (running !== undefined || taken >= threads || line.length > 0) return
  state.running = background.shift()
  if (state.running !== undefined) grant(state, state.running)
}
