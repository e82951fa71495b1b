/**
 * Watchdogs draw conclusions from silence. They judge only periods in which they could observe: not while the views are
 * stalled, and not right after a time in which no command was answered, because reports are then still queued. A runner
 * without a report for any of its items is dead, and all its items with it. A runner with reports can still have an
 * item that does not progress. A runner that was silent all along is stranded.
 */
import { Clock, Effect, Option, Ref } from "effect"
import { type ViewFreshness, type ViewRow, Views } from "#actors"
import { type Pipeline, queueId, type WorkItemCommandOf } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { CommandClient, findingsOf, type PlannedCommand, toWorkItem } from "./command-client.ts"
import { readWorkItems, type SeenWorkItem } from "./seen-entities.ts"
import type { Sweep, SweepName } from "./sweeps.ts"

interface WatchfulOptions {
  readonly name: SweepName
  readonly everyMs: number
  readonly views: Views["Service"]
  readonly client: CommandClient["Service"]
  /** Created anew whenever the lease is taken. */
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
 * Whether the views can be trusted to show that nothing happened. Stalled views make every runner look dead while the
 * log advances, and after such a time runners must get the chance to report again.
 */
interface ViewsWatch {
  readonly sequence: number
  /** Since when the views have been continuously fresh. */
  readonly sinceMs: number
  /** When the views were last at the log's end, or advancing. */
  readonly freshAtMs: number
  /** Whether they were fresh at this check. */
  readonly isFresh: boolean
  readonly isStill: boolean
}

// A dead projector is replaced within a lease's lifetime; a longer stall is a break.
const stillMsMin = 10_000

export const beginWatch = (nowMs: number): ViewsWatch => ({
  sequence: -1,
  sinceMs: nowMs,
  freshAtMs: nowMs,
  isFresh: false,
  isStill: false
})

/** Updates the watch after a check of the views. Pure. */
export const lookAtViews = (
  before: ViewsWatch,
  { sequence, behind }: Pick<ViewFreshness, "sequence" | "behind">,
  nowMs: number
): ViewsWatch =>
  behind === 0 || sequence > before.sequence
    ? { sequence, sinceMs: before.isStill ? nowMs : before.sinceMs, freshAtMs: nowMs, isFresh: true, isStill: false }
    : { ...before, isFresh: false, isStill: before.isStill || nowMs - before.freshAtMs > stillMsMin }

/** The dead-worker reaper hands back the items of runners that have gone completely silent. */
export const deadWorkerReaper = silenceWatchdog("dead-workers", ({ dead }) => dead)

/** The worker-progress watchdog hands back single items that do not progress, although their runner lives. */
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

// A runner can miss two reports before it counts as silent after a start.
const reportsHeardFor = 2

/** After a start, or a time without views, runners first get a moment to report. Pure. */
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

/** The item-stale watchdog hands back items that should progress and have not changed for too long. */
export const staleWatchdog: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(
  function* () {
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
    return watchful({ name: "stale-items", everyMs, views, client: yield* CommandClient, judge })
  }
)

interface StaleInput {
  readonly items: ReadonlyArray<SeenWorkItem>
  /** When the queue of that project was last seen paused, by itself or with the others; null: never. */
  readonly lastPausedMs: (projectId: string | null) => number | null
  readonly nowMs: number
  readonly staleMs: number
}

/**
 * An item whose queue was paused, or that is not yet due, had a reason not to progress: its time counts from the end of
 * that reason, as far as this process has observed it. Pure.
 */
export const staleItems = ({ items, lastPausedMs, nowMs, staleMs }: StaleInput): ReadonlyArray<PlannedCommand> => {
  const unchangedSinceMs = ({ project, summary, deadlinesMs }: SeenWorkItem) => {
    const staleSinceMs = deadlinesMs["stale"] ?? Infinity
    // A runner has the item, so no pause holds it.
    if (summary.dispatchId !== null) return staleSinceMs
    return Math.max(staleSinceMs, summary.notBeforeMs ?? 0, lastPausedMs(project) ?? 0)
  }
  return items
    .filter((item) => nowMs - unchangedSinceMs(item) >= staleMs)
    .map((item) =>
      toWorkItem(item, "stale-item", {
        _tag: "Recover",
        reason: "item-stale updatedAt",
        dispatchId: item.summary.dispatchId
      })
    )
}

type Row = Pick<ViewRow, "id" | "state">

/** When queues were last seen paused: each project's own, and the common one. */
interface PausedQueues {
  readonly look: (projects: ReadonlyArray<Row>, queue: Row | undefined, nowMs: number) => void
  readonly lastPausedMs: (projectId: string | null) => number | null
}

export const makePausedQueues = (): PausedQueues => {
  const projectsMs = new Map<string, number>()
  let allMs: number | null = null
  return {
    look: (projects, queue, nowMs) => {
      if (queue?.state === "Paused") allMs = nowMs
      for (const { id, state } of projects) if (state === "Paused") projectsMs.set(id, nowMs)
    },
    lastPausedMs: (projectId) => {
      const ownMs = projectId === null ? undefined : projectsMs.get(projectId)
      return ownMs === undefined ? allMs : Math.max(ownMs, allMs ?? 0)
    }
  }
}
