/** Whether the gateway that held a claim is lost, asked of the broker and remembered for some seconds. */
import { setNewest } from "#base"
import { Duration, Effect } from "effect"
import type { Mailbox } from "#bus"

const goodFor = Duration.seconds(5)
// Gateways seen dead or alive between two restarts of this one; the oldest entry is dropped first.
const namesMax = 256

/**
 * Whether the gateway that held a payment is gone, and with it perhaps an answer that was paid for. A running gateway
 * sends its answers itself. Results are cached for a moment, so that a storm of replays asks the broker once.
 */
export const lostHolders = ({ instance, isThere }: Pick<Mailbox["Service"], "instance" | "isThere">) => {
  const known = new Map<string, Effect.Effect<boolean>>()
  const look = Effect.fnUntraced(function* (holder: string) {
    // Not interruptible: other calls wait for the same answer.
    const looking = yield* Effect.cachedWithTTL(Effect.uninterruptible(isThere(holder)), goodFor)
    setNewest(known, holder, looking, namesMax)
    return looking
  })
  /** False if the broker cannot tell. */
  const isLost = Effect.fnUntraced(function* (holder: string | undefined) {
    if (holder === undefined || holder === instance) return false
    return !(yield* known.get(holder) ?? (yield* look(holder)))
  })
  return isLost
}
