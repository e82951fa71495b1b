/**
 * One dispatch at a time for each project that has a cap, so that what is counted is true until the dispatch is. A
 * project nobody waits for is forgotten.
 */
import { Effect, Semaphore } from "effect"

export const projectTurns = () => {
  const lines = new Map<string, { readonly turn: Semaphore.Semaphore; present: number }>()
  return <A, E, R>(projectId: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const line = lines.get(projectId) ?? { turn: Semaphore.makeUnsafe(1), present: 0 }
      line.present += 1
      lines.set(projectId, line)
      return line.turn
        .withPermits(1)(work)
        .pipe(
          Effect.ensuring(
            Effect.sync(() => {
              line.present -= 1
              if (line.present === 0) lines.delete(projectId)
            })
          )
        )
    })
}
