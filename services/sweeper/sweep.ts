/**
 * What a sweep is: something that is looked at again and again, by one process at a time. It begins whenever that
 * process gets the lease, with nothing remembered; what it then is runs at every interval. Whatever it finds it asks
 * the actors to act on, so that one who looks twice, or was asleep in between, does no harm.
 */
import type { Effect } from "effect"
import type { BusError } from "#bus"

export const sweepNames = [
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

/** How many of what it found, by a short name each. */
export type Findings = Readonly<Record<string, number>>

export interface Sweep {
  readonly name: SweepName
  readonly everyMs: number
  readonly begin: Effect.Effect<Effect.Effect<Findings, BusError>, BusError>
}

/** What all sweeps of a process have in common. */
export interface Run {
  /** This run of the process: who holds the leases, and what is told once in each run. */
  readonly epoch: string
}
