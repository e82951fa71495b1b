/**
 * The retention sweep: retires items and releases that ended long ago. Repeated requests, challenges and raw answers
 * need no sweep: their buckets forget them by themselves.
 */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import { Configuration } from "#runtime"
import { Commander, findingsOf } from "../Commander.ts"
import type { Sweep } from "../sweep.ts"
import { retirements } from "./retirement.ts"

const dayMs = 86_400_000

export const retentionSweep: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, Pipeline } = yield* Configuration
  const commander = yield* Commander
  const views = yield* Views

  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const workItemsBeforeMs = nowMs - Pipeline.ItemsKeptDays * dayMs
    const releasesBeforeMs = nowMs - Pipeline.ReleasesKeptDays * dayMs
    const commands = retirements({
      workItems: views.due("workitem", "ended", workItemsBeforeMs),
      releases: views.due("release", "ended", releasesBeforeMs),
      workItemsBeforeMs,
      releasesBeforeMs
    })
    return findingsOf(yield* commander.send("retention", commands))
  })
  return { name: "retention", everyMs: Sweeper.RetentionSeconds * 1_000, begin: Effect.succeed(sweep) }
})
