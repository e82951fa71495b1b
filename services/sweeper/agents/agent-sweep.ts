/** The agent sweep: ends pauses whose time is over, brings quotas back, and lets go of items that wait in vain. */
import { Clock, Effect } from "effect"
import { Views } from "#actors"
import { Configuration } from "#runtime"
import { Commander, findingsOf } from "../Commander.ts"
import { eligibleAgents } from "../eligible-agents.ts"
import type { Sweep } from "../sweep.ts"
import { readAgents, readWorkItems } from "../view-summaries.ts"
import { agentCommandsDue } from "./agent-policy.ts"
import { overlookedItems } from "./release-waiting.ts"

// Whoever follows the log needs a moment; more than a few sweeps is none.
const patienceMsMin = 10_000
const patienceSweeps = 3

export const agentSweep: Effect.Effect<Sweep, never, Commander | Configuration | Views> = Effect.gen(function* () {
  const { Sweeper, QuotaRetry, Agents } = yield* Configuration
  const commander = yield* Commander
  const views = yield* Views
  const eligible = eligibleAgents(Agents.Kinds)
  const everyMs = Sweeper.AgentSeconds * 1_000

  const sweep = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    const agents = readAgents(views.list({ entity: "agent" }))
    const times = { nowMs, marginMs: QuotaRetry.MarginSeconds * 1_000, periodicMs: QuotaRetry.PeriodicMinutes * 60_000 }
    const items = readWorkItems(views.list({ entity: "workitem", states: ["WaitingForAgentResume"] }))
    const patienceMs = Math.max(patienceMsMin, patienceSweeps * everyMs)
    const sent = yield* commander.send("agents", [
      ...agentCommandsDue(agents, times),
      ...overlookedItems({ items, agents, kinds: Agents.Kinds, eligible, nowMs, patienceMs })
    ])
    return findingsOf(sent)
  })
  return { name: "agents", everyMs, begin: Effect.succeed(sweep) }
})
