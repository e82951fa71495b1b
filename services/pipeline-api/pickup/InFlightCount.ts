/**
 * The exact number of items in flight of a project with a cap. The views give it, but they are a moment behind. Every
 * dispatch of such a project therefore moves a unique key. The next one, on whichever replica, waits until the views
 * show the last, and fails if another was made meanwhile. Within one process dispatches are made one at a time, so only
 * replicas race.
 */
import { Context, Effect, Layer, Option } from "effect"
import { Actors, type FoundUniqueKey, type UniqueKey } from "#actors"
import type { BusError } from "#bus"
import { keyedQueue } from "#runtime"
import { Ready } from "./Ready.ts"

// The views show a record within about ten milliseconds. After this, the runner is told to ask again rather than kept
// waiting.
const patienceMs = 2_000
// A turn takes milliseconds, so the last of these gets its turn in time. Further runners are told to ask again.
const turnsMax = 512

interface Project {
  readonly id: string
  readonly sequence: number
}

export class InFlightCount extends Context.Service<
  InFlightCount,
  {
    /**
     * Runs `work` once the number in flight is known as of the project's record and its last dispatch. The dispatch
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
      const turns = keyedQueue(turnsMax)

      const onceKnown = Effect.fnUntraced(function* <A, E, R, B>(
        { id, sequence }: Project,
        work: (key: UniqueKey) => Effect.Effect<A, E, R>,
        late: () => B
      ) {
        const last = yield* actors.uniqueKey(capKey(id))
        // A dispatch made here counts before the views show it. Its record comes right after its key.
        const dispatchedAt = Option.match(last, {
          onNone: () => 0,
          onSome: (key) => (ready.wasDispatched(key.commandId) ? 0 : key.sequence + 1)
        })
        // Dispatches from before the project had its cap precede the project's own record in the log.
        const known = yield* Effect.timeoutOption(ready.shown(Math.max(dispatchedAt, sequence)), patienceMs)
        return Option.isSome(known) ? yield* work(nextOfCap(id, last)) : late()
      })

      return InFlightCount.of({
        whileKnown: (project, work, late) => turns.run(project.id, Effect.sync(late), onceKnown(project, work, late))
      })
    })
  )
}

const capKey = (projectId: string) => `cap ${projectId}`

/** The key taken by the next dispatch of a project with a cap, so that such dispatches are made one after the other. */
const nextOfCap = (projectId: string, found: Option.Option<FoundUniqueKey>): UniqueKey => ({
  name: capKey(projectId),
  sequence: Option.match(found, { onNone: () => 0, onSome: ({ sequence }) => sequence })
})
