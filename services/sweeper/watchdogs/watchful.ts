/**
 * A sweep that concludes from silence. It judges only what it was able to hear: not while the views stand still, and
 * not right after a time in which nobody answered, for then reports still wait to be read.
 */
import { Clock, Effect, Ref } from "effect"
import type { Views } from "#actors"
import { type Commander, findingsOf } from "../Commander.ts"
import type { PlannedCommand } from "../planned-command.ts"
import type { Sweep, SweepName } from "../sweep.ts"
import { beginWatch, lookAtViews } from "./views-watch.ts"

export interface WatchfulOptions {
  readonly name: SweepName
  readonly everyMs: number
  readonly views: Views["Service"]
  readonly commander: Commander["Service"]
  /** Made anew whenever the lease is taken. */
  readonly judge: () => Judge
}

/** What is due, given the time, and since when silence would have been noticed. */
export type Judge = (nowMs: number, watchingSinceMs: number) => ReadonlyArray<PlannedCommand>

export const watchful = ({ name, everyMs, views, commander, judge }: WatchfulOptions): Sweep => ({
  name,
  everyMs,
  begin: Effect.gen(function* () {
    const due = judge()
    const watch = yield* Ref.make(beginWatch(yield* Clock.currentTimeMillis))
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const look = yield* Ref.updateAndGet(watch, (before) => lookAtViews(before, views.freshness(), nowMs))
      if (!look.isFresh) return look.isStill ? { "views-still": 1 } : {}
      const sent = yield* commander
        .send(name, due(nowMs, look.sinceMs))
        .pipe(Effect.tapError(() => Ref.set(watch, beginWatch(nowMs))))
      return findingsOf(sent)
    })
  })
})
