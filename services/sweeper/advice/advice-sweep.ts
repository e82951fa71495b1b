/** The reset-optimality adviser: tells agents whose quota is best spent now. It only tells; no reset is triggered. */
import { Clock, Effect, Stream } from "effect"
import { Kv } from "#bus"
import { QuotaForecast } from "#contracts"
import { Configuration } from "#runtime"
import { Commander, findingsOf, isDone, type Sent } from "../Commander.ts"
import type { PlannedCommand } from "../planned-command.ts"
import type { Sweep } from "../sweep.ts"
import { adviceDue } from "./advice-policy.ts"

// An agent that keeps still, for a window before this one, is asked again; every sweep would be too often.
const againAfterMs = 60_000

export const adviceSweep: Effect.Effect<Sweep, never, Commander | Configuration | Kv> = Effect.gen(function* () {
  const { Sweeper, Agents } = yield* Configuration
  const commander = yield* Commander
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
      const sent = yield* commander.send(
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
