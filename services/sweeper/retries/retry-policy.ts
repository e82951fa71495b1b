/**
 * When a parked item is queued again, and by what. `targeted`: its own time has come, or the quota of an agent that
 * may take it is back. `periodic`: nobody knows when its quota is reset. `rearm-overdue`: its time has passed unseen.
 * `startup`: the first look of a run finds it due. The attempt that is meant goes with it, so that an item that moved
 * on meanwhile is left alone; how often an item may wait is its actor's to say. Pure.
 */
import type { WorkItemCommandOf } from "#contracts"

type AutoRetry = WorkItemCommandOf<"AutoRetry">

export interface Parked {
  readonly state: "WaitingForQuotaReset" | "WaitingForTransientRetry"
  /** When it was parked. */
  readonly updatedAtMs: number
  /** Null: nobody knows. */
  readonly dueAtMs: number | null
  readonly attemptsSoFar: number
  /** The last time the quota of an agent that may take it came back; null: it did not. */
  readonly quotaBackAtMs: number | null
}

export interface RetryTimes {
  readonly nowMs: number
  readonly isFirst: boolean
  /** For a quota whose reset nobody knows. */
  readonly periodicMs: number
  /** After the reset of a quota, for clocks differ. */
  readonly marginMs: number
  /** Later than this after its time an item was overlooked. */
  readonly overdueMs: number
}

export const retryOf = (item: Parked, times: RetryTimes): AutoRetry | undefined => {
  const triggeredBy = triggerOf(item, times)
  if (triggeredBy === undefined) return undefined
  return {
    _tag: "AutoRetry",
    reason: item.state === "WaitingForQuotaReset" ? "quota" : "transient",
    triggeredBy: times.isFirst ? "startup" : triggeredBy,
    attempt: item.attemptsSoFar + 1
  }
}

const triggerOf = (item: Parked, times: RetryTimes): AutoRetry["triggeredBy"] | undefined => {
  const { nowMs, periodicMs, marginMs, overdueMs } = times
  const isQuota = item.state === "WaitingForQuotaReset"
  if (isQuota && item.quotaBackAtMs !== null && item.quotaBackAtMs >= item.updatedAtMs) return "targeted"
  if (item.dueAtMs === null) return nowMs - item.updatedAtMs >= periodicMs ? "periodic" : undefined
  const lateMs = nowMs - item.dueAtMs - (isQuota ? marginMs : 0)
  if (lateMs < 0) return undefined
  return lateMs > overdueMs ? "rearm-overdue" : "targeted"
}
