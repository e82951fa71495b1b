/**
 * Whether now is the time to spend an agent's quota: within the optimal window of its forecast, before the decision
 * must be made, and with something to spend. Which windows were told, and when another one may be, is the agent's own
 * to know. Pure.
 */
import type { QuotaForecast } from "#contracts"
import { type PlannedCommand, toAgent } from "../planned-command.ts"

export interface AdviceInput {
  readonly forecasts: ReadonlyArray<QuotaForecast>
  readonly nowMs: number
  /** Agents that are watched; empty: all. */
  readonly watched: ReadonlyArray<string>
  readonly cooldownMs: number
}

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
