/**
 * The advice sweep tells agents when their quota is best spent now. It only advises; no reset is triggered. The agent
 * itself knows which windows it was told of, and when it may be told of another.
 */
import { Clock, Effect, Stream } from "effect"
import { Kv } from "#bus"
import { QuotaForecast } from "#contracts"
import { Configuration } from "#runtime"
import { CommandClient, findingsOf, isDone, type PlannedCommand, type Sent, toAgent } from "./command-client.ts"
import type { Sweep } from "./sweeps.ts"

// An agent that stays silent because of an earlier window is asked again; every sweep would be too often.
const againAfterMs = 60_000

export const adviceSweep: Effect.Effect<Sweep, never, CommandClient | Configuration | Kv> = Effect.gen(function* () {
  const { Sweeper, Agents } = yield* Configuration
  const client = yield* CommandClient
  const kv = yield* Kv

  const begin = Effect.gen(function* () {
    const bucket = yield* kv.open("forecasts", QuotaForecast)
    // The moment until which an agent is not told of a window again; for ever once it was told. One window per agent.
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

/**
 * Whether now is the time: within the optimal window, before the decision is due, and with something to spend. Pure.
 */
export const adviceDue = ({ forecasts, nowMs, watched, cooldownMs }: AdviceInput): ReadonlyArray<PlannedCommand> =>
  forecasts
    .filter(({ agent }) => watched.length === 0 || watched.includes(agent))
    .flatMap((forecast) => {
      const { agent, kind: _kind, reportId: _reportId, atMs: _atMs, optimalUntilMs, ...advice } = forecast
      if (optimalUntilMs === null || !isTimeToSpend({ ...forecast, optimalUntilMs }, nowMs)) return []
      const command = { _tag: "AdviseSpending", ...advice, optimalUntilMs, cooldownMs } as const
      // One window gives one id, so a second telling is not carried out.
      return [toAgent({ id: agent, sequence: optimalUntilMs }, "advice", command)]
    })

const isTimeToSpend = (forecast: QuotaForecast & { readonly optimalUntilMs: number }, nowMs: number) =>
  (forecast.optimalFromMs ?? 0) <= nowMs &&
  nowMs < forecast.optimalUntilMs &&
  nowMs <= (forecast.decisionDeadlineMs ?? Infinity) &&
  forecast.bankedCredits !== 0
