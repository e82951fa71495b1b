/**
 * Order among messages of one key. Each waits for those before it. After one was handed back to the broker, later ones
 * are handed back too until it has come again. Messages of other keys do not wait. The broker's limit of unacked
 * messages bounds the memory. Pure but for the waiting.
 */
import { Deferred, Effect } from "effect"

export interface Turn<A> {
  readonly key: string
  readonly sequence: number
  /** Whether the message is finished; an unfinished one holds the later ones back. */
  readonly isDone: (outcome: A) => boolean
  /** The outcome of a message whose predecessor is still to come again. */
  readonly heldOff: A
}

interface OrderedKeys {
  /** Runs `work` in the key's turn. */
  readonly inTurn: <A, R>(turn: Turn<A>, work: Effect.Effect<A, never, R>) => Effect.Effect<A, never, R>
}

interface Line {
  /** Completes when the last message that came has had its turn. */
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
    inTurn: (turn, work) =>
      Effect.suspend(() => {
        const { key } = turn
        const own = Deferred.makeUnsafe<void>()
        const line = lines.get(key) ?? { tail: Deferred.makeUnsafe<void>(), present: 0, unfinished: new Set<number>() }
        const before = line.present === 0 ? Effect.void : Deferred.await(line.tail)
        line.tail = own
        line.present += 1
        lines.set(key, line)
        const taken = Effect.andThen(before, takeTurn(line, turn, work))
        return Effect.ensuring(taken, leave(key, line, own))
      })
  }
}

const takeTurn = Effect.fnUntraced(function* <A, R>(
  { unfinished }: Line,
  { sequence, isDone, heldOff }: Turn<A>,
  work: Effect.Effect<A, never, R>
) {
  const isHeldOff = [...unfinished].some((other) => other < sequence)
  unfinished.add(sequence)
  if (isHeldOff) return heldOff
  // A defect is our mistake; without this it would hold the others back for ever.
  const outcome = yield* Effect.onError(work, () => Effect.sync(() => unfinished.delete(sequence)))
  if (isDone(outcome)) unfinished.delete(sequence)
  return outcome
})
