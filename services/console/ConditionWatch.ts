/**
 * What is wrong with the fleet, looked for every five seconds, whether or not anybody watches. Since when each stands is
 * kept in KV `conditions` by the first console that sees it, for the next one.
 */
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import type { Conditions } from "#console/api"
import { conditionsView, type Looked, looks } from "#console/conditions"
import { episodes } from "./episodes.ts"
import { FleetHistory } from "./FleetHistory.ts"
import { FleetWatch } from "./FleetWatch.ts"
import { Timeline } from "./Timeline.ts"

export class ConditionWatch extends Context.Service<
  ConditionWatch,
  {
    /** By the last look. */
    readonly now: Effect.Effect<Conditions>
  }
>()("starling/console/ConditionWatch") {
  static readonly layer = Layer.effect(
    ConditionWatch,
    Effect.gen(function* () {
      const { scan } = yield* FleetWatch
      const history = yield* FleetHistory
      const timeline = yield* Timeline
      const { sinceOf, keep } = yield* episodes
      const lookAt = looks(sinceOf)
      let last: Looked = {
        atMs: yield* Clock.currentTimeMillis,
        processes: [],
        again: [],
        standing: [],
        isWhole: false
      }
      const round = Effect.gen(function* () {
        const scanned = yield* scan
        last = lookAt(scanned)
        yield* Effect.all(
          [history.add(scanned.reading), Effect.flatMap(keep(last), (happened) => timeline.add(scanned, happened))],
          { concurrency: 2, discard: true }
        )
        // A look that dies must not end the looking: what is shown would stay as it was.
      }).pipe(Effect.catchDefect((defect) => Effect.logError("a look at the fleet died", defect)))
      yield* Effect.forkScoped(Effect.repeat(round, Schedule.spaced(every)))

      const now = Effect.sync(() => conditionsView(last))
      return ConditionWatch.of({ now })
    })
  )
}

const every = "5 seconds"
