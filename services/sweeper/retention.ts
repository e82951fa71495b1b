/**
 * The retention sweep retires items and releases that ended long ago. Repeated requests, challenges and raw answers
 * need no sweep: they expire in their buckets.
 */
import { Clock, Effect } from "effect"
import { type ViewRow, Views } from "#actors"
import { Configuration } from "#runtime"
import { CommandClient, findingsOf, type PlannedCommand, toRelease, toWorkItem } from "./command-client.ts"
import type { Sweep } from "./sweeps.ts"

const dayMs = 86_400_000

export const retentionSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(
  function* () {
    const { Sweeper, Pipeline } = yield* Configuration
    const client = yield* CommandClient
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
      return findingsOf(yield* client.send("retention", commands))
    })
    return { name: "retention", everyMs: Sweeper.RetentionSeconds * 1_000, begin: Effect.succeed(sweep) }
  }
)

type Ended = Pick<ViewRow, "id" | "sequence" | "deadlinesMs">

interface RetirementInput {
  readonly workItems: ReadonlyArray<Ended>
  readonly releases: ReadonlyArray<Ended>
  /** Items that ended no later than this are retired. */
  readonly workItemsBeforeMs: number
  readonly releasesBeforeMs: number
}

const endedAtMs = ({ deadlinesMs }: Ended) => deadlinesMs["ended"] ?? Infinity

const longAgo = (rows: ReadonlyArray<Ended>, beforeMs: number) =>
  rows.filter((row) => endedAtMs(row) <= beforeMs).toSorted((left, right) => endedAtMs(left) - endedAtMs(right))

/** Items and releases that ended long enough ago to be retired, the earliest first. Pure. */
export const retirements = (input: RetirementInput): ReadonlyArray<PlannedCommand> => {
  const { workItemsBeforeMs, releasesBeforeMs } = input
  return [
    ...longAgo(input.workItems, workItemsBeforeMs).map((row) =>
      toWorkItem(row, "retired-item", { _tag: "Retire", endedBeforeMs: workItemsBeforeMs })
    ),
    ...longAgo(input.releases, releasesBeforeMs).map((row) =>
      toRelease(row, "retired-release", { _tag: "Retire", endedBeforeMs: releasesBeforeMs })
    )
  ]
}
