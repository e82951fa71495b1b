/**
 * A relay that lost a write to a twin stands by: what it reads and plans from then on would be in vain. It looks a few
 * times a second how far the twin has come, tells that to whoever shows it, and returns when it should take up the work.
 */
import { Clock, Effect, Option, Random } from "effect"
import type { BusError } from "./errors.ts"
import type { Nats } from "./Nats.ts"
import { lastOfSource, storedCursor } from "./relay-cursor.ts"
import type { RelayOptions } from "./relay-options.ts"
import { patienceOf, seen, type StandingBy, takesUp } from "./standing-by.ts"

// A read of one message, and only where the cursor has not moved one more.
const lookEveryMs = 250

/** `onMoved` is told of every cursor that a twin is seen to have stored. */
export const untilNeeded = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  options: RelayOptions<Cursor, E, R>,
  onMoved: (cursor: Cursor) => Effect.Effect<void, never, R>
): Effect.fn.Return<void, BusError, R> {
  const patience = patienceOf(yield* Random.next)
  let state: StandingBy | undefined
  while (true) {
    options.loop.beat()
    const stored = yield* storedCursor(nats, options)
    if (Option.isNone(stored)) return
    const { sequence, record } = stored.value
    if (record.handedOver === true) return
    const isMoved = state?.sequence !== sequence
    if (isMoved) yield* onMoved(record.cursor)
    const isBehind = !isMoved && (yield* lastOfSource(nats, options)) > options.position(record.cursor)
    const nowMs = yield* Clock.currentTimeMillis
    state = seen(state, { sequence, isBehind, isOurs: options.isOurs(record.cursor) }, nowMs)
    if (takesUp(state, patience, nowMs)) return
    yield* Effect.sleep(lookEveryMs)
  }
})
