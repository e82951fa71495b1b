/**
 * Whether the gateway that held a payment is gone, and with it perhaps an answer that was paid for. A process that is
 * there gives its answers out itself. What was found is good for a moment: a storm of replays asks the broker once.
 */
import { Duration, Effect } from "effect"
import type { Mailbox } from "#bus"

// Who has died is asked for by clients that come back within seconds.
const goodFor = Duration.seconds(5)
// Gateways that were, between two restarts of this one; forgotten oldest first.
const namesMax = 256

export const lostHolders = ({ instance, isThere }: Pick<Mailbox["Service"], "instance" | "isThere">) => {
  const known = new Map<string, Effect.Effect<boolean>>()
  const look = Effect.fnUntraced(function* (holder: string) {
    // Not to be interrupted: others wait for the same answer.
    const looking = yield* Effect.cachedWithTTL(Effect.uninterruptible(isThere(holder)), goodFor)
    known.set(holder, looking)
    const [oldest] = known.keys()
    if (known.size > namesMax && oldest !== undefined) known.delete(oldest)
    return looking
  })
  /** False where nobody knows. */
  const isLost = Effect.fnUntraced(function* (holder: string | undefined) {
    if (holder === undefined || holder === instance) return false
    return !(yield* known.get(holder) ?? (yield* look(holder)))
  })
  return isLost
}
