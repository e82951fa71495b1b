/** Runners that wait for something to do. As many wake as there is something for. */
import { Deferred, Effect } from "effect"
import type { WorkItemPhase } from "#contracts"

export interface Wanted {
  /** Names of agents and classes. */
  readonly names: ReadonlyArray<string>
  readonly phases: ReadonlyArray<WorkItemPhase>
}

export interface Waiting extends Wanted {
  /** The kind, and the instance that asks. Of each the holds count. */
  readonly agentIds: readonly [kind: string, ...instance: ReadonlyArray<string>]
  /** Names of which nobody else takes the items: while the kind is paused these are to be parked. */
  readonly alone: ReadonlyArray<string>
}

export const waitingRunners = (waitersMax: number) => {
  const waiters = new Set<{ readonly waiting: Waiting; readonly woken: Deferred.Deferred<void> }>()
  return {
    count: () => waiters.size,
    /** Ends when it was woken, or when that time is over; at once when too many wait already. */
    wait: (waiting: Waiting, waitMs: number): Effect.Effect<void> =>
      Effect.suspend(() => {
        if (waiters.size >= waitersMax) return Effect.void
        const waiter = { waiting, woken: Deferred.makeUnsafe<void>() }
        waiters.add(waiter)
        return Effect.asVoid(Effect.timeoutOption(Deferred.await(waiter.woken), waitMs)).pipe(
          Effect.ensuring(Effect.sync(() => waiters.delete(waiter)))
        )
      }),
    /** `toDo`: for how many of those that wait so there is something. */
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
