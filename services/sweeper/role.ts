/**
 * The role sweeper does everything that happens because time has passed.
 *
 * in: KV `views` and `forecasts`; LOG, and EVENTS to compare with it
 * out: commands on `commands.<entity>`; it never writes LOG or EVENTS
 * state: KV `spend` (rebuilt from LOG when empty) and `sweeps`; a lease per sweep in KV `leases`
 * failure policy: one process runs a sweep, another takes over 3 s after it died; a failed sweep is logged, counted and
 * run again at its next interval; a command sent twice has one id
 */
import { Effect, Layer } from "effect"
import { Views } from "#actors"
import { CommandClient } from "./command-client.ts"
import { Checkpoints, runSweeps } from "./sweeps.ts"
import { adviceSweep, agentSweep } from "./agents.ts"
import { budgetSweep } from "./spend-ledger.ts"
import { purgeSweep, retentionSweep } from "./retention.ts"
import { reconciliationSweep } from "./reconciliation.ts"
import { releaseSweep } from "./releases.ts"
import { restoreSweep } from "./restores.ts"
import { retrySweep } from "./retries.ts"
import { deadWorkerReaper, progressWatchdog, staleWatchdog } from "./watchdogs.ts"

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
export const sweeper = sweeping.pipe(
  Layer.provide(Layer.mergeAll(CommandClient.layer, Checkpoints.layer, Views.layer()))
)
