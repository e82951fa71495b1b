/** The item-stale watchdog: hands back items that should move and did not change for too long. */
import { Effect, Option } from "effect"
import { Views } from "#actors"
import { queueId } from "#contracts"
import { Configuration } from "#runtime"
import { Commander } from "../Commander.ts"
import type { Sweep } from "../sweep.ts"
import { readWorkItems } from "../view-summaries.ts"
import { makePausedQueues } from "./paused-queues.ts"
import { staleItems } from "./stale-items.ts"
import { type Judge, watchful } from "./watchful.ts"

export const staleWatchdog: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, Pipeline } = yield* Configuration
  const views = yield* Views
  const staleMs = Pipeline.StaleHours * 3_600_000

  const judge = (): Judge => {
    const queues = makePausedQueues()
    return (nowMs) => {
      queues.look(views.list({ entity: "project" }), Option.getOrUndefined(views.find("queue", queueId)), nowMs)
      const items = readWorkItems(views.due("workitem", "stale", nowMs - staleMs))
      return staleItems({ items, lastPausedMs: queues.lastPausedMs, nowMs, staleMs })
    }
  }
  const everyMs = Sweeper.WatchdogSeconds * 1_000
  return watchful({ name: "stale-items", everyMs, views, commander: yield* Commander, judge })
})
