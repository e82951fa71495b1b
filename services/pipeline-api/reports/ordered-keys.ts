/**
 * Order among messages of one key: each waits for those before it, and when one was handed back to the broker, those
 * after it are handed back too until it has come again. Others do not wait. What is remembered is bounded by what the
 * broker gives out at once. Pure but for the waiting.
 */
import { Deferred, Effect } from "effect"

export interface OrderedKeys {
  /**
   * Runs `work` in the key's turn. `isDone` tells whether the message is finished; one that is not holds the later
   * ones off. `heldOff`: what becomes of a message whose predecessor is still to come again.
   */
  readonly inTurn: <A, R>(
    key: string,
    sequence: number,
    work: Effect.Effect<A, never, R>,
    isDone: (outcome: A) => boolean,
    heldOff: A
  ) => Effect.Effect<A, never, R>
}

interface Line {
  /** Ends when the last that came has had its turn. */
  tail: Deferred.Deferred<void>
  present: number
  readonly unfinished: Set<number>
}

export const orderedKeys = (): OrderedKeys => {
  const lines = new Map<string, Line>()
  const leave = (key: string, line: Line, own: Deferred.Deferred<void>) =>
    Effect.sync(() => {
      line.present -= 1
      Deferred.doneUnsafe(own, Effect.void)
      if (line.present === 0 && line.unfinished.size === 0) lines.delete(key)
    })
  return {
    inTurn: (key, sequence, work, isDone, heldOff) =>
      Effect.suspend(() => {
        const own = Deferred.makeUnsafe<void>()
        const line = lines.get(key) ?? { tail: Deferred.makeUnsafe<void>(), present: 0, unfinished: new Set<number>() }
        const before = line.present === 0 ? Effect.void : Deferred.await(line.tail)
        line.tail = own
        line.present += 1
        lines.set(key, line)
        const turn = Effect.andThen(before, takeTurn(line, sequence, work, isDone, heldOff))
        return Effect.ensuring(turn, leave(key, line, own))
      })
  }
}

const takeTurn = Effect.fnUntraced(function* <A, R>(
  { unfinished }: Line,
  sequence: number,
  work: Effect.Effect<A, never, R>,
  isDone: (outcome: A) => boolean,
  heldOff: A
) {
  const isHeldOff = [...unfinished].some((other) => other < sequence)
  unfinished.add(sequence)
  if (isHeldOff) return heldOff
  // One that dies is a mistake of ours, and would hold the others off for ever.
  const outcome = yield* Effect.onError(work, () => Effect.sync(() => unfinished.delete(sequence)))
  if (isDone(outcome)) unfinished.delete(sequence)
  return outcome
})
