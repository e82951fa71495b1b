/** Two sweeps over agents: one acts when their times are over, the other advises them to spend. */
import { Clock, Effect, Stream } from "effect"
import { Views } from "#actors"
import { type AgentKindEntry, QuotaForecast } from "#pipeline/contract"
import { Configuration } from "#configuration"
import { Kv } from "#bus"
import {
  CommandClient,
  findingsOf,
  isDone,
  type PlannedCommand,
  type Sent,
  toAgent,
  toWorkItem
} from "./command-client.ts"
import {
  eligibleAgents,
  type EligibleAgents,
  readAgents,
  readWorkItems,
  type SeenAgent,
  type SeenWorkItem
} from "./seen-entities.ts"
import type { Sweep } from "./sweeps.ts"

// The follow-ups of the log need a moment; an item that waits longer than a few sweeps was overlooked.
const patienceMsMin = 10_000
const patienceSweeps = 3

/** Ends expired pauses, restores quotas, and wakes items that wait in vain. */
export const agentSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, QuotaRetry, Agents } = yield* Configuration
  const client = yield* CommandClient
  const views = yield* Views
  const eligible = eligibleAgents(Agents.Kinds)
  const everyMs = Sweeper.AgentSeconds * 1_000

  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const agents = readAgents(views.list({ entity: "agent" }))
    const times = { nowMs, marginMs: QuotaRetry.MarginSeconds * 1_000, periodicMs: QuotaRetry.PeriodicMinutes * 60_000 }
    const items = readWorkItems(views.list({ entity: "workitem", states: ["WaitingForAgentResume"] }))
    const patienceMs = Math.max(patienceMsMin, patienceSweeps * everyMs)
    const sent = yield* client.send("agents", [
      ...agentCommandsDue(agents, times),
      ...overlookedItems({ items, agents, kinds: Agents.Kinds, eligible, nowMs, patienceMs })
    ])
    return findingsOf(sent)
  })
  return { name: "agents", everyMs, begin: Effect.succeed(sweep) }
})

interface AgentTimes {
  readonly nowMs: number
  /** The delay after a quota reset, because clocks differ. */
  readonly marginMs: number
  /** The interval for a quota whose reset is unknown. */
  readonly periodicMs: number
}

/**
 * Commands for expired pauses, for quotas whose reset has come, and for quotas retried because their reset is unknown.
 * Pure.
 */
export const agentCommandsDue = (agents: ReadonlyArray<SeenAgent>, times: AgentTimes): ReadonlyArray<PlannedCommand> =>
  agents.flatMap((agent) => [...pauseDue(agent, times), ...quotaDue(agent, times)])

const pauseDue = (agent: SeenAgent, { nowMs }: AgentTimes): ReadonlyArray<PlannedCommand> => {
  const expiresAtMs = agent.summary.pause?.expiresAtMs ?? null
  return expiresAtMs !== null && expiresAtMs <= nowMs ? [toAgent(agent, "pause-expired", { _tag: "ExpirePause" })] : []
}

const quotaDue = (agent: SeenAgent, { nowMs, marginMs, periodicMs }: AgentTimes): ReadonlyArray<PlannedCommand> => {
  const { isQuotaExhausted, quotaResetAtMs } = agent.summary
  if (!isQuotaExhausted) return []
  if (quotaResetAtMs === null) {
    return nowMs - agent.updatedAtMs >= periodicMs
      ? [toAgent(agent, "quota-tried", { _tag: "ResetQuota", isForced: true })]
      : []
  }
  return quotaResetAtMs + marginMs <= nowMs
    ? [toAgent(agent, "quota-reset", { _tag: "ResetQuota", isForced: false })]
    : []
}

interface WaitingInput {
  readonly items: ReadonlyArray<SeenWorkItem>
  readonly agents: ReadonlyArray<SeenAgent>
  readonly kinds: ReadonlyArray<Pick<AgentKindEntry, "Kind" | "Instances">>
  readonly eligible: EligibleAgents
  readonly nowMs: number
  /** How long an item is left to the follow-ups of the log. */
  readonly patienceMs: number
}

/**
 * Items that wait for a paused agent although one takes work: for example those parked at the moment of the resume. The
 * follow-ups of the log wake the others; these were overlooked. Pure.
 */
export const overlookedItems = (input: WaitingInput): ReadonlyArray<PlannedCommand> => {
  const { items, eligible, nowMs, patienceMs } = input
  const isPaused = pausedKinds(input)
  return items
    .filter(({ updatedAtMs }) => nowMs - updatedAtMs >= patienceMs)
    .filter(({ summary }) => !eligible(summary).every(isPaused))
    .map((item) => toWorkItem(item, "agent-takes-work", { _tag: "AgentResumed" }))
}

/** A kind is paused if it is paused itself, or if each of its instances is. */
const pausedKinds = ({ agents, kinds, nowMs }: WaitingInput) => {
  const paused = new Set(
    agents
      .filter(({ summary: { pause } }) => pause !== null && (pause.expiresAtMs === null || pause.expiresAtMs > nowMs))
      .map(({ id }) => id)
  )
  return (kind: string) => {
    const instances = kinds.find((entry) => entry.Kind === kind)?.Instances ?? []
    return paused.has(kind) || (instances.length > 0 && instances.every((name) => paused.has(`${kind}/${name}`)))
  }
}

// An agent that stays silent because of an earlier window is asked again; every sweep would be too often.
const againAfterMs = 60_000

/**
 * The advice sweep tells agents when now is the best time to spend their quota. It only advises; no reset is triggered.
 * The agent itself knows which windows were announced, and when another can be.
 */
export const adviceSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Kv> = Effect.gen(function* () {
  const { Sweeper, Agents } = yield* Configuration
  const client = yield* CommandClient
  const kv = yield* Kv

  const begin = Effect.gen(function* () {
    const bucket = yield* kv.open("forecasts", QuotaForecast)
    // Until when a window is not announced to an agent again; forever once it was. One window per agent.
    const quiet = new Map<string, { readonly window: string; readonly untilMs: number }>()
    return Effect.gen(function* () {
      const nowMs = yield* Clock.currentTimeMillis
      const forecasts = (yield* Stream.runCollect(bucket.scan(">"))).map(({ value }) => value)
      const cooldownMs = Agents.AdviceCooldownMinutes * 60_000
      const isQuiet = ({ id, commandId }: PlannedCommand) => {
        const last = quiet.get(id)
        return last?.window === commandId && nowMs < last.untilMs
      }
      const due = adviceDue({ forecasts, nowMs, watched: Agents.AdviceFor, cooldownMs })
      const sent = yield* client.send(
        "advice",
        due.filter((planned) => !isQuiet(planned))
      )
      const remember = (one: Sent) =>
        quiet.set(one.planned.id, {
          window: one.planned.commandId,
          untilMs: isDone(one) ? Infinity : nowMs + againAfterMs
        })
      sent.forEach(remember)
      return findingsOf(sent)
    })
  })
  return { name: "advice", everyMs: Sweeper.AdviceSeconds * 1_000, begin }
})

interface AdviceInput {
  readonly forecasts: ReadonlyArray<QuotaForecast>
  readonly nowMs: number
  /** The agents that are watched; empty: all. */
  readonly watched: ReadonlyArray<string>
  readonly cooldownMs: number
}

/** Whether to advise now: within the optimal window, before the decision is due, and with something to spend. Pure. */
export const adviceDue = ({ forecasts, nowMs, watched, cooldownMs }: AdviceInput): ReadonlyArray<PlannedCommand> =>
  forecasts
    .filter(({ agent }) => watched.length === 0 || watched.includes(agent))
    .flatMap((forecast) => {
      const { agent, kind: _kind, reportId: _reportId, atMs: _atMs, optimalUntilMs, ...advice } = forecast
      if (optimalUntilMs === null || !isTimeToSpend({ ...forecast, optimalUntilMs }, nowMs)) return []
      const command = { _tag: "AdviseSpending", ...advice, optimalUntilMs, cooldownMs } as const
      // One window gives one id, so a second announcement is not carried out.
      return [toAgent({ id: agent, sequence: optimalUntilMs }, "advice", command)]
    })

const isTimeToSpend = (forecast: QuotaForecast & { readonly optimalUntilMs: number }, nowMs: number) =>
  (forecast.optimalFromMs ?? 0) <= nowMs &&
  nowMs < forecast.optimalUntilMs &&
  nowMs <= (forecast.decisionDeadlineMs ?? Infinity) &&
  forecast.bankedCredits !== 0
