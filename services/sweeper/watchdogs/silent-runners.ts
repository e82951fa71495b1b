/**
 * Two watchdogs over silent runners. A runner without a report for any of its items is dead, and all its items with it.
 * A runner with reports may still have an item that does not move. A runner that was silent all along is stranded.
 */
import { Effect } from "effect"
import { Views } from "#actors"
import type { Pipeline, WorkItemCommandOf } from "#contracts"
import { Configuration } from "#runtime"
import { CommandClient, type PlannedCommand, toWorkItem } from "../command-client.ts"
import type { Sweep, SweepName } from "../sweeps.ts"
import { readWorkItems, type SeenWorkItem } from "../views.ts"
import { watchful } from "./watchful.ts"

/** The dead-worker reaper hands back the items of runners that have fallen silent altogether. */
export const deadWorkerReaper = silenceWatchdog("dead-workers", ({ dead }) => dead)

/** The worker-progress watchdog hands back single items that do not move, although their runner lives. */
export const progressWatchdog = silenceWatchdog("progress", ({ stuck }) => stuck)

function silenceWatchdog(
  name: SweepName,
  due: (silent: Silent) => ReadonlyArray<PlannedCommand>
): Effect.Effect<Sweep, never, CommandClient | Configuration | Views> {
  return Effect.gen(function* () {
    const { Sweeper, Pipeline } = yield* Configuration
    const views = yield* Views
    const silence = silenceOf(Pipeline)
    return watchful({
      name,
      everyMs: Sweeper.WatchdogSeconds * 1_000,
      views,
      client: yield* CommandClient,
      judge: () => (nowMs, watchingSinceMs) =>
        due(silentItems(itemsInHand(views, nowMs), { nowMs, watchingSinceMs, ...silence }))
    })
  })
}

/** Every item with a report at any time up to now. */
const itemsInHand = (views: Views["Service"], nowMs: number): ReadonlyArray<SeenWorkItem> =>
  readWorkItems(views.due("workitem", "lastProgress", nowMs))

const silenceOf = (pipeline: Pick<Pipeline, "ProgressSeconds" | "ProgressTimeoutSeconds">) => ({
  progressMs: pipeline.ProgressSeconds * 1_000,
  timeoutMs: pipeline.ProgressTimeoutSeconds * 1_000
})

type Reason = WorkItemCommandOf<"Recover">["reason"]

export interface SilenceTimes {
  readonly nowMs: number
  /** Since when a silence would have been noticed. */
  readonly watchingSinceMs: number
  /** How often runners report. */
  readonly progressMs: number
  readonly timeoutMs: number
}

interface InHand {
  readonly item: SeenWorkItem
  readonly runner: string
  readonly lastProgressAtMs: number
}

interface Silent {
  /** Items of runners that are dead. */
  readonly dead: ReadonlyArray<PlannedCommand>
  /** Items that do not move, of runners that live. */
  readonly stuck: ReadonlyArray<PlannedCommand>
}

// A runner may miss two reports before it counts as silent after a start.
const reportsHeardFor = 2

/** After a start, or a time without views, runners get a moment to be heard first. Pure. */
export const silentItems = (items: ReadonlyArray<SeenWorkItem>, times: SilenceTimes): Silent => {
  const { nowMs, watchingSinceMs, progressMs, timeoutMs } = times
  if (nowMs - watchingSinceMs < Math.min(timeoutMs, reportsHeardFor * progressMs)) return { dead: [], stuck: [] }
  const inHand = items.flatMap(inHandOf)
  const isSilent = ({ lastProgressAtMs }: InHand) => nowMs - lastProgressAtMs >= timeoutMs
  const living = new Set(inHand.filter((one) => !isSilent(one)).map(({ runner }) => runner))
  const silent = inHand.filter(isSilent)
  const recover = (finding: string) => (one: InHand) => recovering(one, finding, reasonOf(one, times))
  return {
    dead: silent.filter(({ runner }) => !living.has(runner)).map(recover("dead-worker")),
    stuck: silent.filter(({ runner }) => living.has(runner)).map(recover("no-progress"))
  }
}

const inHandOf = (item: SeenWorkItem): ReadonlyArray<InHand> => {
  const lastProgressAtMs = item.deadlinesMs["lastProgress"]
  const { runner, dispatchId } = item.summary
  if (lastProgressAtMs === undefined || runner === null || dispatchId === null) return []
  return [{ item, runner, lastProgressAtMs }]
}

const reasonOf = ({ lastProgressAtMs }: InHand, { watchingSinceMs, timeoutMs }: SilenceTimes): Reason =>
  lastProgressAtMs + timeoutMs <= watchingSinceMs ? "orchestrator restart with stranded item" : "dead worker detected"

const recovering = ({ item }: InHand, finding: string, reason: Reason) =>
  toWorkItem(item, finding, { _tag: "Recover", reason, dispatchId: item.summary.dispatchId })
