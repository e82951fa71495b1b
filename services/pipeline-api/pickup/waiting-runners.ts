/** Runners that wait for work. As many wake as there are items for. */
import { Deferred, Effect } from "effect"
import type { WorkItemPhase } from "#contracts"

export interface Wanted {
  /** Names of agents and classes. */
  readonly names: ReadonlyArray<string>
  readonly phases: ReadonlyArray<WorkItemPhase>
}

export interface Waiting extends Wanted {
  /** The kind, and the instance that asks. A hold on either counts. */
  readonly agentIds: readonly [kind: string, ...instance: ReadonlyArray<string>]
  /** The names that only this kind serves: while the kind is paused, their items are parked. */
  readonly alone: ReadonlyArray<string>
}

export const waitingRunners = (waitersMax: number) => {
  const waiters = new Set<{ readonly waiting: Waiting; readonly woken: Deferred.Deferred<void> }>()
  return {
    count: () => waiters.size,
    /** Ends when the runner is woken, or when the time is over; at once when too many wait already. */
    wait: (waiting: Waiting, waitMs: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (waiters.size >= waitersMax) return Effect.void
        const waiter = { waiting, woken: Deferred.makeUnsafe<void>() }
        waiters.add(waiter)
        return Effect.asVoid(Effect.timeoutOption(Deferred.await(waiter.woken), waitMs)).pipe(
          Effect.ensuring(Effect.sync(() => waiters.delete(waiter)))
        )
      }),
    /** `toDo`: the number of such waiting runners that have work. */
    wake: (toDo: (waiting: Waiting) => number): void => {
      const left = new Map<string, number>()
      for (const { waiting, woken } of waiters) {
        const key = JSON.stringify(waiting)
        const count = left.get(key) ?? toDo(waiting)
        left.set(key, count - 1)
        if (count > 0) Deferred.doneUnsafe(woken, Effect.void)
      }
    },
    wakeAll: Effect.sync(() => {
      for (const { woken } of waiters) Deferred.doneUnsafe(woken, Effect.void)
    })
  }
}
