/** The item-stale watchdog hands back items that should move and have not changed for too long. */
import { Effect, Option } from "effect"
import { type ViewRow, Views } from "#actors"
import { queueId } from "#contracts"
import { Configuration } from "#runtime"
import { CommandClient, type PlannedCommand, toWorkItem } from "../command-client.ts"
import type { Sweep } from "../sweeps.ts"
import { readWorkItems, type SeenWorkItem } from "../views.ts"
import { type Judge, watchful } from "./watchful.ts"

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
 * An item whose queue was paused, or that is not yet due, had a reason to stand still: its time counts from the end of
 * that reason, as far as this process has seen it. Pure.
 */
export const staleItems = ({ items, lastPausedMs, nowMs, staleMs }: StaleInput): ReadonlyArray<PlannedCommand> => {
  const standingSinceMs = ({ project, summary, deadlinesMs }: SeenWorkItem) => {
    const staleSinceMs = deadlinesMs["stale"] ?? Infinity
    // A runner has the item, so no pause holds it.
    if (summary.dispatchId !== null) return staleSinceMs
    return Math.max(staleSinceMs, summary.notBeforeMs ?? 0, lastPausedMs(project) ?? 0)
  }
  return items
    .filter((item) => nowMs - standingSinceMs(item) >= staleMs)
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
