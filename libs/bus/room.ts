/** The room of a process for messages: whether it takes another one. */
import { Effect, Latch } from "effect"

export interface Room {
  /** Waits until there is some. */
  readonly free: Effect.Effect<void>
  readonly enter: () => void
  /** Its place is free again after that long. */
  readonly leave: (afterMs: number) => void
}

// The broker counts from when it has heard of it: what comes again goes first, and not behind what is new.
const hearsWithinMs = 25

/** For as long as its scope. */
export const makeRoom = Effect.fnUntraced(function* (places: number) {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const scope = yield* Effect.scope
  const changed = Latch.makeUnsafe(false)
  let taken = 0

  const free: Effect.Effect<void> = Effect.suspend(() => {
    if (taken < places) return Effect.void
    changed.closeUnsafe()
    return Effect.andThen(changed.await, free)
  })
  const vacate = () => {
    taken -= 1
    changed.openUnsafe()
  }
  const room: Room = {
    free,
    enter: () => void (taken += 1),
    leave: (afterMs) => {
      if (afterMs === 0) vacate()
      else run(Effect.forkIn(Effect.delay(Effect.sync(vacate), afterMs + hearsWithinMs), scope))
    }
  }
  return room
})
