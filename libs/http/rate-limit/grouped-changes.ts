/**
 * Changes of stored values, written in groups: changes of a key that arrive while a group is being written form the
 * next group, so that a burst costs the store one write a turn and not one for each caller. A caller that is
 * interrupted before its group begins changes nothing; a group that cannot be written fails for each of its members.
 * Callers bound how many wait, and for how long.
 */
import { Deferred, Effect, Exit } from "effect"

export interface Change<V, A> {
  readonly answer: A
  /** The value to keep; undefined when it does not change. */
  readonly next: V | undefined
}

/** Reads a value and stores the result of `decide`; a lost race reads and decides again. */
export type ChangeStored<V, E> = (id: string, decide: (value: V) => V | undefined) => Effect.Effect<void, E>

interface Member<V, E> {
  /** May be called again: its last result counts. */
  readonly decide: (value: V) => V | undefined
  readonly conclude: (written: Exit.Exit<void, E>) => void
}

// A value is read and written once for this many changes; more would only delay the first of them.
const membersMax = 512

export const groupedChanges = <V, E>(change: ChangeStored<V, E>) => {
  const waiting = new Map<string, Array<Member<V, E>>>()

  const writeGroup = (id: string, group: ReadonlyArray<Member<V, E>>) =>
    change(id, (value) => {
      let next: V | undefined
      for (const { decide } of group) next = decide(next ?? value) ?? next
      return next
    })

  const writeAll = Effect.fnUntraced(function* (id: string) {
    let group = waiting.get(id)?.splice(0, membersMax) ?? []
    while (group.length > 0) {
      const written = yield* Effect.exit(writeGroup(id, group))
      for (const { conclude } of group) conclude(written)
      group = waiting.get(id)?.splice(0, membersMax) ?? []
    }
    waiting.delete(id)
  })

  return <A>(id: string, decide: (value: V) => Change<V, A>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const result = Deferred.makeUnsafe<A, E>()
      let last: Change<V, A> | undefined
      const member: Member<V, E> = {
        decide: (value) => {
          last = decide(value)
          return last.next
        },
        conclude: (written) => {
          const answer = last === undefined ? Exit.die("a member of a group was not asked") : Exit.succeed(last.answer)
          Deferred.doneUnsafe(result, Exit.isSuccess(written) ? answer : Exit.failCause(written.cause))
        }
      }
      const others = waiting.get(id)
      if (others !== undefined) others.push(member)
      else waiting.set(id, [member])
      const leave = Effect.sync(() => {
        const queue = waiting.get(id)
        const place = queue?.indexOf(member) ?? -1
        if (place >= 0) queue?.splice(place, 1)
      })
      // Detached: the caller that came first may be interrupted while others wait.
      const begun = others === undefined ? Effect.forkDetach(writeAll(id)) : Effect.void
      return Effect.andThen(
        begun,
        Effect.onInterrupt(Deferred.await(result), () => leave)
      )
    })
}
