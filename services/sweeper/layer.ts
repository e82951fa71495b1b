/**
 * The role sweeper, whole: everything that happens because time has passed.
 *
 * in: KV `views` and `forecasts`; LOG, and EVENTS to compare with it
 * out: commands on `commands.<entity>`; it never writes LOG or EVENTS
 * state: KV `spend` (made again from LOG when empty) and `sweeps`; a lease per sweep in KV `leases`
 * failure policy: one process runs a sweep, another takes over 3 s after it died; a sweep that fails is logged, counted
 * and run again at its next interval; a command that is sent twice has one id
 */
import { Effect, Layer } from "effect"
import { Views } from "#actors"
import { agentSweep } from "./agents/agent-sweep.ts"
import { restoreSweep } from "./agents/restore-sweep.ts"
import { budgetSweep } from "./budget/budget-sweep.ts"
import { Commander } from "./Commander.ts"
import { Marks } from "./Marks.ts"
import { reconciliationSweep } from "./reconciliation/reconciliation-sweep.ts"
import { releaseSweep } from "./releases/release-sweep.ts"
import { adviceSweep } from "./advice/advice-sweep.ts"
import { purgeSweep } from "./retention/purge-sweep.ts"
import { retentionSweep } from "./retention/retention-sweep.ts"
import { retrySweep } from "./retries/retry-sweep.ts"
import { runSweeps } from "./Sweeps.ts"
import { deadWorkerReaper } from "./watchdogs/dead-worker-reaper.ts"
import { progressWatchdog } from "./watchdogs/progress-watchdog.ts"
import { staleWatchdog } from "./watchdogs/stale-watchdog.ts"

const sweeping = Layer.effectDiscard(
  Effect.gen(function* () {
    const run = { epoch: crypto.randomUUID() }
    const sweeps = yield* Effect.all([
      retrySweep,
      agentSweep,
      deadWorkerReaper,
      progressWatchdog,
      staleWatchdog,
      budgetSweep(run),
      restoreSweep,
      adviceSweep,
      releaseSweep,
      retentionSweep,
      purgeSweep,
      reconciliationSweep
    ])
    yield* runSweeps(run, sweeps)
  })
)

/** Needs the bus and the runtime. */
export const sweeper = sweeping.pipe(Layer.provide(Layer.mergeAll(Commander.layer, Marks.layer, Views.layer())))
