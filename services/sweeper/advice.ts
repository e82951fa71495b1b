/**
 * The advice sweep tells agents whose quota is best spent now. It only tells; no reset is triggered. Which windows were
 * told, and when another one may be, is the agent's own to know.
 */
import { Clock, Effect, Stream } from "effect"
import { Kv } from "#bus"
import { QuotaForecast } from "#contracts"
import { Configuration } from "#runtime"
import { CommandClient, findingsOf, isDone, type PlannedCommand, type Sent, toAgent } from "./command-client.ts"
import type { Sweep } from "./sweeps.ts"

// An agent that keeps still, for a window before this one, is asked again; every sweep would be too often.
const againAfterMs = 60_000

export const adviceSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Kv> = Effect.gen(function* () {
  const { Sweeper, Agents } = yield* Configuration
  const client = yield* CommandClient
  const kv = yield* Kv

  const begin = Effect.gen(function* () {
    const bucket = yield* kv.open("forecasts", QuotaForecast)
    // Until when an agent is not asked about a window; for ever once it was told. One window an agent.
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
  /** Agents that are watched; empty: all. */
  readonly watched: ReadonlyArray<string>
  readonly cooldownMs: number
}

/** Now is the time: within the optimal window, before the decision must be made, and with something to spend. Pure. */
export const adviceDue = ({ forecasts, nowMs, watched, cooldownMs }: AdviceInput): ReadonlyArray<PlannedCommand> =>
  forecasts
    .filter(({ agent }) => watched.length === 0 || watched.includes(agent))
    .flatMap((forecast) => {
      const { agent, kind: _kind, reportId: _reportId, atMs: _atMs, optimalUntilMs, ...advice } = forecast
      if (optimalUntilMs === null || !isTimeToSpend({ ...forecast, optimalUntilMs }, nowMs)) return []
      const command = { _tag: "AdviseSpending", ...advice, optimalUntilMs, cooldownMs } as const
      // One window, one id: told twice it is not carried out twice.
      return [toAgent({ id: agent, sequence: optimalUntilMs }, "advice", command)]
    })

const isTimeToSpend = (forecast: QuotaForecast & { readonly optimalUntilMs: number }, nowMs: number) =>
  (forecast.optimalFromMs ?? 0) <= nowMs &&
  nowMs < forecast.optimalUntilMs &&
  nowMs <= (forecast.decisionDeadlineMs ?? Infinity) &&
  forecast.bankedCredits !== 0
