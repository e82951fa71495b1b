/** The room of a process for messages: how many more it takes at once. */
import { Effect, Latch } from "effect"

export interface Room {
  /** Waits until there is some, and says how much. */
  readonly free: Effect.Effect<number>
  readonly enter: () => void
  /** Its place is free again after that long. */
  readonly leave: (afterMs: number) => void
}

// One question for several messages: with one for each, a busy process and its broker would do little else.
const worthwhile = 1 / 4
const worthwhileWithin = "20 millis"

// The broker counts from when it has heard of it: what comes again goes first, and not behind what is new.
const hearsWithinMs = 25

/** For as long as its scope. */
export const makeRoom = Effect.fnUntraced(function* (places: number) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const scope = yield* Effect.scope
  const changed = Latch.makeUnsafe(false)
  let taken = 0

  const hasFree = (count: number): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (places - taken >= count) return Effect.void
      changed.closeUnsafe()
      return Effect.andThen(changed.await, hasFree(count))
    })
  const vacate = () => {
    taken -= 1
    changed.openUnsafe()
  }
  const room: Room = {
    free: hasFree(Math.ceil(places * worthwhile)).pipe(
      Effect.timeoutOption(worthwhileWithin),
      Effect.andThen(hasFree(1)),
      Effect.map(() => places - taken)
    ),
    enter: () => void (taken += 1),
    leave: (afterMs) => {
      if (afterMs === 0) vacate()
      else run(Effect.forkIn(Effect.delay(Effect.sync(vacate), afterMs + hearsWithinMs), scope))
    }
  }
  return room
})
