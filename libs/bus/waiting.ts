/**
 * Says why a role waits for its broker: to whoever is told, each time; in the log when the reason is new, and again
 * every half minute.
 */
import { Clock, Effect } from "effect"

const saidAgainAfterMs = 30_000

export const waiting = (message: string, onTrouble: ((reason: string) => void) | undefined) => {
  let last = ""
  let saidAtMs = 0
  return Effect.fnUntraced(function* (reason: string) {
    onTrouble?.(reason)
    const nowMs = yield* Clock.currentTimeMillis
    if (reason === last && nowMs - saidAtMs < saidAgainAfterMs) return
    last = reason
    saidAtMs = nowMs
    yield* Effect.logWarning(message).pipe(Effect.annotateLogs({ reason }))
  })
}
