/** The retry sweep requeues items that wait for a quota or after a transport failure, when their time has come. */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import type { WorkItemCommandOf } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { CommandClient, findingsOf, type PlannedCommand, toWorkItem } from "./command-client.ts"
import {
  eligibleAgents,
  type EligibleAgents,
  readAgents,
  readWorkItems,
  type SeenAgent,
  type SeenWorkItem
} from "./seen-entities.ts"
import type { Sweep } from "./sweeps.ts"

const waiting = ["WaitingForQuotaReset", "WaitingForTransientRetry"] as const
// An item this many sweeps late was not merely between two of them.
const overdueSweeps = 6
const overdueMsMin = 60_000

export const retrySweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, QuotaRetry, Agents } = yield* Configuration
  const client = yield* CommandClient
  const views = yield* Views
  const eligible = eligibleAgents(Agents.Kinds)
  const everyMs = Sweeper.RetrySeconds * 1_000

  const begin = Effect.sync(() => {
    let returns = noReturns
    let isFirst = true
    return Effect.gen(function* () {
      const times: RetryTimes = {
        nowMs: yield* Clock.currentTimeMillis,
        isFirst,
        periodicMs: QuotaRetry.PeriodicMinutes * 60_000,
        marginMs: QuotaRetry.MarginSeconds * 1_000,
        overdueMs: Math.max(overdueMsMin, overdueSweeps * everyMs)
      }
      returns = seeAgents(returns, readAgents(views.list({ entity: "agent" })))
      const items = readWorkItems(views.list({ entity: "workitem", states: waiting }))
      const sent = yield* client.send("retries", retries(items, { returns, eligible, times }))
      isFirst = false
      return findingsOf(sent)
    })
  })
  return { name: "retries", everyMs, begin }
})

interface RetriesInput {
  readonly returns: QuotaReturns
  readonly eligible: EligibleAgents
  readonly times: RetryTimes
}

/** The retries that are due. Pure. */
export const retries = (
  items: ReadonlyArray<SeenWorkItem>,
  { returns, eligible, times }: RetriesInput
): ReadonlyArray<PlannedCommand> =>
  items.flatMap((item) => {
    const command = retryOf(parkedOf(item, returns, eligible), times)
    return command === undefined ? [] : [toWorkItem(item, `${command.reason}-${command.triggeredBy}`, command)]
  })

const parkedOf = (item: SeenWorkItem, returns: QuotaReturns, eligible: EligibleAgents): Parked => {
  const { updatedAtMs, summary, deadlinesMs } = item
  return item.state === "WaitingForQuotaReset"
    ? {
        state: item.state,
        updatedAtMs,
        dueAtMs: deadlinesMs["quotaResetAt"] ?? null,
        attemptsSoFar: summary.quotaRetries,
        quotaBackAtMs: lastReturn(returns, eligible(summary))
      }
    : {
        state: "WaitingForTransientRetry",
        updatedAtMs,
        dueAtMs: deadlinesMs["retryAt"] ?? null,
        attemptsSoFar: summary.transientRetries,
        quotaBackAtMs: null
      }
}

type AutoRetry = WorkItemCommandOf<"AutoRetry">

export interface Parked {
  readonly state: "WaitingForQuotaReset" | "WaitingForTransientRetry"
  /** When it was parked. */
  readonly updatedAtMs: number
  /** Null: unknown. */
  readonly dueAtMs: number | null
  readonly attemptsSoFar: number
  /** The last time the quota of an eligible agent came back; null: never. */
  readonly quotaBackAtMs: number | null
}

export interface RetryTimes {
  readonly nowMs: number
  readonly isFirst: boolean
  /** The interval for a quota whose reset is unknown. */
  readonly periodicMs: number
  /** The delay after a quota reset, because clocks differ. */
  readonly marginMs: number
  /** An item later than this was overlooked. */
  readonly overdueMs: number
}

/**
 * Why a parked item is requeued now, if at all. `targeted`: its own time has come, or the quota of an eligible agent is
 * back. `periodic`: the reset of its quota is unknown. `rearm-overdue`: its time has passed unnoticed. `startup`: the
 * first sweep of a run finds it due. The command carries the attempt, so that an item that has moved on meanwhile is
 * unaffected; the item's actor decides how often it can wait. Pure.
 */
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

/** When the quotas of agents came back, tracked from one sweep to the next. */
interface QuotaReturns {
  /** Ids of agents without quota at the last sweep; undefined before the first. */
  readonly exhausted: ReadonlySet<string> | undefined
  /** Keyed by agent kind. */
  readonly backAtMs: ReadonlyMap<string, number>
}

export const noReturns: QuotaReturns = { exhausted: undefined, backAtMs: new Map() }

/** In the first sweep an agent with quota counts as back since its last change: items parked before that can retry. */
export const seeAgents = (before: QuotaReturns, agents: ReadonlyArray<SeenAgent>): QuotaReturns => {
  const backAtMs = new Map(before.backAtMs)
  for (const { id, updatedAtMs, summary } of agents) {
    if (summary.isQuotaExhausted) continue
    // A change not seen before, such as a pause, does not mean a return.
    const isBack = before.exhausted === undefined || before.exhausted.has(id)
    if (isBack) backAtMs.set(summary.agentKind, Math.max(updatedAtMs, backAtMs.get(summary.agentKind) ?? 0))
  }
  const exhausted = new Set(agents.filter(({ summary }) => summary.isQuotaExhausted).map(({ id }) => id))
  return { exhausted, backAtMs }
}

export const lastReturn = ({ backAtMs }: QuotaReturns, agentKinds: ReadonlyArray<string>): number | null => {
  const times = agentKinds.flatMap((kind) => backAtMs.get(kind) ?? [])
  return times.length === 0 ? null : Math.max(...times)
}
