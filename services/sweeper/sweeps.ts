/**
 * A sweep repeats a check, in one process at a time. It begins whenever that process gets the lease, with no memory,
 * and then runs at every interval, whatever the result of the last run. It asks the actors to act on its findings, so
 * that a repeated or late check does no harm.
 *
 * Checkpoints hold the progress of sweeps that span days, in KV `sweeps`. A checkpoint changes only on the condition
 * that it is the one that was read: a process that lost its lease without knowing it cannot reset another's.
 */
import { Clock, Context, Duration, Effect, Exit, Layer, type Option, Schema, type Scope } from "effect"
import { type BusError, Kv, type KvEntry, Leases, records, revisionOf } from "#bus"
import { Metrics, supervise } from "#runtime"
import { Count, EpochMs, Uuid } from "#base"
import { sweepHeld, sweepFailures, sweepCommands, sweepSeconds, sweepLastRun, sweepFindings } from "./metrics.ts"

const sweepNames = [
  "budget",
  "retries",
  "agents",
  "restores",
  "dead-workers",
  "progress",
  "stale-items",
  "releases",
  "advice",
  "retention",
  "purge",
  "reconciliation"
] as const
export type SweepName = (typeof sweepNames)[number]

/** Counts of its findings, each under a short name. */
export type Findings = Readonly<Record<string, number>>

export interface Sweep {
  readonly name: SweepName
  readonly everyMs: number
  readonly begin: Effect.Effect<Effect.Effect<Findings, BusError>, BusError>
}

/** The context that all sweeps of a process share. */
export interface Run {
  /** This run of the process: it names the holder of the leases, and the commands sent once per run. */
  readonly epoch: string
}

// So that a start does not run all sweeps at once.
const staggerMs = 250
// The longest legitimate run recounts spend from a log of months.
const runWithin = "10 minutes"

/**
 * Starts sweeps, slightly staggered; they end with the scope. Each has a lease of its own, so that over all replicas
 * one process runs it, and another takes over within seconds after a crash.
 */
export const runSweeps = Effect.fnUntraced(function* (
  run: Run,
  sweeps: ReadonlyArray<Sweep>
): Effect.fn.Return<void, never, Leases | Metrics | Scope.Scope> {
  const leases = yield* Leases
  const metrics = yield* Metrics
  const held = metrics.gauge(sweepHeld)
  for (const [index, sweep] of sweeps.entries()) {
    const { name: label } = sweep
    metrics.counter(sweepFailures).begin({ sweep: label })
    metrics.counter(sweepCommands).begin({ sweep: label })
    const hold = Effect.acquireUseRelease(
      Effect.sync(() => held.set({ sweep: label }, 1)),
      () => Effect.andThen(Effect.sleep(Math.min(index * staggerMs, sweep.everyMs)), loop(sweep)),
      () => Effect.sync(() => held.set({ sweep: label }, 0))
    )
    held.set({ sweep: label }, 0)
    const holding = leases.whileHeld({ key: `sweep-${label}`, holder: run.epoch }, hold)
    yield* Effect.forkScoped(supervise(`sweep ${label}`, Effect.annotateLogs(holding, { sweep: label })))
  }
})

const loop = Effect.fnUntraced(function* (sweep: Sweep): Effect.fn.Return<never, never, Metrics> {
  let begun: Effect.Effect<Findings, BusError> | undefined
  const next = Effect.gen(function* () {
    begun ??= yield* sweep.begin
    return yield* begun
  })
  while (true) {
    yield* oneRun(sweep, next)
    yield* Effect.sleep(sweep.everyMs)
  }
})

/** A run that fails or dies only shows in the log and the count; the rest of the role continues. */
const oneRun = Effect.fnUntraced(function* ({ name }: Sweep, run: Effect.Effect<Findings, BusError>) {
  const metrics = yield* Metrics
  const [took, exit] = yield* Effect.timed(Effect.exit(Effect.timeout(run, runWithin)))
  metrics.histogram(sweepSeconds).observe({ sweep: name }, Duration.toSeconds(took))
  if (Exit.isFailure(exit)) {
    metrics.counter(sweepFailures).inc({ sweep: name })
    yield* Effect.logWarning("a sweep failed, it runs again at its next interval", exit.cause)
    return
  }
  metrics.gauge(sweepLastRun).set({ sweep: name }, (yield* Clock.currentTimeMillis) / 1_000)
  const looked = Object.entries(exit.value)
  for (const [finding, count] of looked) metrics.counter(sweepFindings).inc({ sweep: name, finding }, count)
  const found = looked.filter(([, count]) => count > 0)
  if (found.length > 0) yield* Effect.logInfo("a sweep found something", Object.fromEntries(found))
})

/** The most items of one restore; a value of the bucket holds this many ids. */
export const restoreItemsMax = 10_000

export const Checkpoint = Schema.TaggedUnion({
  /** Retired entities up to this position are purged. */
  Purge: { position: Count },
  /** LOG up to `position` was compared with EVENTS, read up to `eventsPosition`. */
  Reconciliation: { position: Count, eventsPosition: Count },
  /** The items to requeue after an agent's return. */
  Restore: { restoredAtMs: EpochMs, workItemIds: Schema.Array(Uuid).check(Schema.isMaxLength(restoreItemsMax)) }
})
export type Checkpoint = typeof Checkpoint.Type

type StoredCheckpoint = Option.Option<KvEntry<Checkpoint>>

export class Checkpoints extends Context.Service<
  Checkpoints,
  {
    readonly read: (key: string) => Effect.Effect<StoredCheckpoint, BusError>
    /** Fails if another process has set it since it was read. */
    readonly set: (key: string, read: StoredCheckpoint, checkpoint: Checkpoint) => Effect.Effect<number, BusError>
  }
>()("starling/sweeper/Checkpoints") {
  static readonly layer = Layer.effect(
    Checkpoints,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("sweeps", Checkpoint)
      const { overwrite } = records(bucket)
      return Checkpoints.of({
        read: bucket.get,
        set: (key, read, checkpoint) => overwrite(key, checkpoint, revisionOf(read))
      })
    })
  )
}
