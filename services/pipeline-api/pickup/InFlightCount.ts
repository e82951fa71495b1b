/**
 * The exact number of items in flight of a project with a cap. The views give it, but they are a moment behind. Every
 * dispatch of such a project therefore moves a unique key. The next one, on whichever replica, waits until the views
 * show the last, and fails if another was made meanwhile. Within one process dispatches are made one at a time, so only
 * replicas race.
 */
import { Clock, Context, Effect, Layer, Option, Semaphore } from "effect"
import { Actors, type FoundUniqueKey, type UniqueKey } from "#actors"
import type { BusError } from "#bus"
import { Ready } from "./Ready.ts"

// The views show a record within some ten milliseconds. After this, the runner is told to ask again rather than kept
// waiting.
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
     * Runs `work` once the number in flight is known as of the project's record and of its last dispatch. The dispatch
     * made in it must move the key. `late`: the answer when the views are too far behind.
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
        // A dispatch made here counts before the views show it. Its record stands right after its key.
        const dispatchedAt = Option.match(last, {
          onNone: () => 0,
          onSome: (key) => (ready.wasGiven(key.commandId) ? 0 : key.sequence + 1)
        })
        // Dispatches from before the project had its cap precede the project's own record in the log.
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

/**
 * The key that the next dispatch of a project with a cap takes, so that such dispatches are made one after the other.
 */
const nextOfCap = (projectId: string, found: Option.Option<FoundUniqueKey>): UniqueKey => ({
  name: capKey(projectId),
  sequence: Option.match(found, { onNone: () => 0, onSome: ({ sequence }) => sequence })
})

/** One dispatch at a time for each project. A project with no waiting dispatch is dropped. */
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
