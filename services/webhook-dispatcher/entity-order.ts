/**
 * The order of an endpoint's entities: the first attempts for one entity leave in the order of their events. Each waits
 * until the bytes of the one before it were handed to a socket. It does not wait for the answer, so a slow receiver
 * holds up nothing, and a retry may be overtaken.
 */
import { Deferred, Effect } from "effect"

interface Turn {
  /** Undefined when no delivery is ahead. */
  readonly before: Effect.Effect<void> | undefined
  readonly left: () => void
}

export interface EntityOrder {
  /**
   * Takes a turn in the entity's line; call it when the message arrives. `before` completes when the one
   * ahead has left; `left` lets the next one go and may be called more than once.
   */
  readonly enter: (entity: string) => Turn
}

export const entityOrder = (): EntityOrder => {
  const lines = new Map<string, Deferred.Deferred<void>>()
  return {
    enter: (entity) => {
      const ahead = lines.get(entity)
      const mine = Deferred.makeUnsafe<void>()
      lines.set(entity, mine)
      return {
        before: ahead === undefined ? undefined : Deferred.await(ahead),
        left: () => {
          Deferred.doneUnsafe(mine, Effect.void)
          if (lines.get(entity) === mine) lines.delete(entity)
        }
      }
    }
  }
}
