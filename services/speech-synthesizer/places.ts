/**
 * Places at an engine. A session's first chunk is waited for by somebody who hears nothing yet; it goes before
 * all that is made ahead. Among its like, first come is first served.
 */
import { Deferred, Effect } from "effect"

export interface Places {
  readonly within: <A, E, R>(isUrgent: boolean, work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

type Waiter = Deferred.Deferred<void>

export const places = (count: number): Places => {
  let free = count
  const urgent = new Set<Waiter>()
  const others = new Set<Waiter>()

  const giveBack = Effect.sync(() => {
    const [next] = urgent.size > 0 ? urgent : others
    if (next === undefined) free += 1
    else {
      urgent.delete(next)
      others.delete(next)
      Deferred.doneUnsafe(next, Effect.void)
    }
  })
  const take = (isUrgent: boolean) =>
    Effect.suspend(() => {
      if (free > 0) {
        free -= 1
        return Effect.void
      }
      const waiter: Waiter = Deferred.makeUnsafe()
      const line = isUrgent ? urgent : others
      line.add(waiter)
      // Given up while waiting: out of the line, or, when the place came at that very moment, on to the next.
      return Effect.onInterrupt(Deferred.await(waiter), () => (line.delete(waiter) ? Effect.void : giveBack))
    })
  return {
    within: (isUrgent, work) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.andThen(restore(take(isUrgent)), Effect.ensuring(restore(work), giveBack))
      )
  }
}
