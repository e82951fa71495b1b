/** The retry sweep: queues items again that wait for a quota or after a transport failure, when their time has come. */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import { Configuration } from "#runtime"
import { Commander, findingsOf } from "../Commander.ts"
import { eligibleAgents, type EligibleAgents } from "../eligible-agents.ts"
import { type PlannedCommand, toWorkItem } from "../planned-command.ts"
import type { Sweep } from "../sweep.ts"
import { readAgents, readWorkItems, type SeenWorkItem } from "../view-summaries.ts"
import { lastReturn, noReturns, type QuotaReturns, seeAgents } from "./quota-returns.ts"
import { type Parked, retryOf, type RetryTimes } from "./retry-policy.ts"

const waiting = ["WaitingForQuotaReset", "WaitingForTransientRetry"] as const
// An item that is so many sweeps late was not merely between two of them.
const overdueSweeps = 6
const overdueMsMin = 60_000

export const retrySweep: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, QuotaRetry, Agents } = yield* Configuration
  const commander = yield* Commander
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
      const sent = yield* commander.send("retries", retries(items, returns, eligible, times))
      isFirst = false
      return findingsOf(sent)
    })
  })
  return { name: "retries", everyMs, begin }
})

/** Pure. */
export const retries = (
  items: ReadonlyArray<SeenWorkItem>,
  returns: QuotaReturns,
  eligible: EligibleAgents,
  times: RetryTimes
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
