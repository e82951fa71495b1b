/**
 * Items that should move and did not change for too long. One whose queue was paused, or that is not to be taken yet,
 * has had a reason to stand: its time counts from when that ended, as far as this process has seen it. Pure.
 */
import { type PlannedCommand, toWorkItem } from "../planned-command.ts"
import type { SeenWorkItem } from "../view-summaries.ts"

export interface StaleInput {
  readonly items: ReadonlyArray<SeenWorkItem>
  /** When the queue of that project was last seen paused, by itself or with the others; null: never. */
  readonly lastPausedMs: (projectId: string | null) => number | null
  readonly nowMs: number
  readonly staleMs: number
}

export const staleItems = ({ items, lastPausedMs, nowMs, staleMs }: StaleInput): ReadonlyArray<PlannedCommand> => {
  const standingSinceMs = ({ project, summary, deadlinesMs }: SeenWorkItem) => {
    const staleSinceMs = deadlinesMs["stale"] ?? Infinity
    // A runner has it: no pause holds that.
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
