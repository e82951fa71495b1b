/**
 * A watchful sweep concludes from silence. It judges only what it was able to hear: not while the views stand still,
 * and not right after a time in which no command was answered, for then reports still wait to be read.
 */
import { Clock, Effect, Ref } from "effect"
import type { ViewFreshness, Views } from "#actors"
import { type CommandClient, findingsOf, type PlannedCommand } from "../command-client.ts"
import type { Sweep, SweepName } from "../sweeps.ts"

interface WatchfulOptions {
  readonly name: SweepName
  readonly everyMs: number
  readonly views: Views["Service"]
  readonly client: CommandClient["Service"]
  /** Made anew whenever the lease is taken. */
  readonly judge: () => Judge
}

/** The commands due at a time, given since when a silence would have been noticed. */
export type Judge = (nowMs: number, watchingSinceMs: number) => ReadonlyArray<PlannedCommand>

export const watchful = ({ name, everyMs, views, client, judge }: WatchfulOptions): Sweep => ({
  name,
  everyMs,
  begin: Effect.gen(function* () {
    const due = judge()
    const watch = yield* Ref.make(beginWatch(yield* Clock.currentTimeMillis))
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const look = yield* Ref.updateAndGet(watch, (before) => lookAtViews(before, views.freshness(), nowMs))
      if (!look.isFresh) return look.isStill ? { "views-still": 1 } : {}
      const sent = yield* client
        .send(name, due(nowMs, look.sinceMs))
        .pipe(Effect.tapError(() => Ref.set(watch, beginWatch(nowMs))))
      return findingsOf(sent)
    })
  })
})

/**
 * Whether the views can be trusted to show that nothing happened. Views that stand still while the log goes on make
 * every runner look dead, and after such a time runners must get the chance to be heard again.
 */
interface ViewsWatch {
  readonly sequence: number
  /** Since when the views have been fresh, without a break. */
  readonly sinceMs: number
  /** When the views were last at the log's end, or moving on. */
  readonly freshAtMs: number
  /** Whether they were fresh at this look. */
  readonly isFresh: boolean
  readonly isStill: boolean
}

// A projector that dies is replaced within a lease's life; a longer standstill is a break.
const stillMsMin = 10_000

export const beginWatch = (nowMs: number): ViewsWatch => ({
  sequence: -1,
  sinceMs: nowMs,
  freshAtMs: nowMs,
  isFresh: false,
  isStill: false
})

/** Updates the watch after a look at the views. Pure. */
export const lookAtViews = (
  before: ViewsWatch,
  { sequence, behind }: Pick<ViewFreshness, "sequence" | "behind">,
  nowMs: number
): ViewsWatch =>
  behind === 0 || sequence > before.sequence
    ? { sequence, sinceMs: before.isStill ? nowMs : before.sinceMs, freshAtMs: nowMs, isFresh: true, isStill: false }
    : { ...before, isFresh: false, isStill: before.isStill || nowMs - before.freshAtMs > stillMsMin }
