/**
 * Which dispatches are silent for too long, and whose worker is dead. A runner of whose items none has been heard of
 * is dead, and all its items with it; one that is heard of may still have an item that does not move. After a start, or
 * a time without views, runners are given a moment to be heard first; what was silent all along is stranded. Pure.
 */
import type { WorkItemCommandOf } from "#contracts"
import { type PlannedCommand, toWorkItem } from "../planned-command.ts"
import type { SeenWorkItem } from "../view-summaries.ts"

type Reason = WorkItemCommandOf<"Recover">["reason"]

export interface SilenceTimes {
  readonly nowMs: number
  /** Since when silence would have been noticed. */
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

export interface Silent {
  /** Items of runners that are dead. */
  readonly dead: ReadonlyArray<PlannedCommand>
  /** Items that do not move, of runners that live. */
  readonly stuck: ReadonlyArray<PlannedCommand>
}

// Two reports may be missed before a runner counts as silent after a start.
const reportsHeardFor = 2

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
