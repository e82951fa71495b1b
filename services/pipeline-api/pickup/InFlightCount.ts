/**
 * The exact count of what a project with a cap has in hand. It comes from the views, which are a moment behind. So
 * every dispatch of such a project moves a unique key, and the next one, on whichever replica, waits until the views
 * show the last, and fails if another was made meanwhile. One process makes them one at a time, so that only replicas
 * race.
 */
import { Clock, Context, Effect, Layer, Option, Semaphore } from "effect"
import { Actors, type FoundUniqueKey, type UniqueKey } from "#actors"
import type { BusError } from "#bus"
import { Ready } from "./Ready.ts"

// The views show a record within some ten milliseconds; a runner is rather told to ask again than kept waiting.
const patienceMs = 2_000
const lookEveryMs = 5

interface Project {
  readonly id: string
  readonly sequence: number
}

export class InFlightCount extends Context.Service<
  InFlightCount,
  {
    /**
     * Runs `work` once what is in flight can be told as of the project's record and of its last dispatch. What is
     * dispatched is to move the key. `late`: the answer where the views are too far behind.
     */
    readonly whileKnown: <A, E, R, B>(
      project: Project,
      work: (key: UniqueKey) => Effect.Effect<A, E, R>,
      late: () => B
    ) => Effect.Effect<A | B, E | BusError, R>
  }
>()("starling/pipeline-api/InFlightCount") {
  static readonly layer = Layer.effect(
    InFlightCount,
    Effect.gen(function* () {
      const actors = yield* Actors
      const ready = yield* Ready
      const inTurn = projectTurns()

      const untilShown = Effect.fnUntraced(function* (sequence: number) {
        const endsAtMs = (yield* Clock.currentTimeMillis) + patienceMs
        while (!ready.isShown(sequence)) {
          if ((yield* Clock.currentTimeMillis) >= endsAtMs) return false
          yield* Effect.sleep(lookEveryMs)
        }
        return true
      })

      const onceKnown = Effect.fnUntraced(function* <A, E, R, B>(
        { id, sequence }: Project,
        work: (key: UniqueKey) => Effect.Effect<A, E, R>,
        late: () => B
      ) {
        const last = yield* actors.uniqueKey(capKey(id))
        // What was given out here is counted before it is shown. The record stands right after its key.
        const dispatchedAt = Option.match(last, {
          onNone: () => 0,
          onSome: (key) => (ready.wasGiven(key.commandId) ? 0 : key.sequence + 1)
        })
        // What was given out before the project had its cap is in the log before the project's own record.
        const isKnown = yield* untilShown(Math.max(dispatchedAt, sequence))
        return isKnown ? yield* work(nextOfCap(id, last)) : late()
      })

      return InFlightCount.of({
        whileKnown: (project, work, late) => inTurn(project.id, onceKnown(project, work, late))
      })
    })
  )
}

const capKey = (projectId: string) => `cap ${projectId}`

/** The key that the next dispatch of a project with a cap takes, so that its dispatches are made one after the other. */
const nextOfCap = (projectId: string, found: Option.Option<FoundUniqueKey>): UniqueKey => ({
  name: capKey(projectId),
  sequence: Option.match(found, { onNone: () => 0, onSome: ({ sequence }) => sequence })
})

/** One dispatch at a time for each project. A project nobody waits for is forgotten. */
const projectTurns = () => {
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
