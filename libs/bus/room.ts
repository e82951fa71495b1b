/** A process's room for messages: whether it can take another one. */
import { Effect, Latch } from "effect"

export interface Room {
  /** Waits until there is room. */
  readonly free: Effect.Effect<void>
  readonly enter: () => void
  /** Frees its slot after that long. */
  readonly leave: (afterMs: number) => void
}

// The broker counts from when it receives the answer: a redelivered message goes first, not behind new ones.
const brokerDelayMs = 25

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
      else run(Effect.forkIn(Effect.delay(Effect.sync(vacate), afterMs + brokerDelayMs), scope))
    }
  }
  return room
})
