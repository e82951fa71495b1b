/**
 * Moves a claim along its table. Whoever writes the revision first has it. A strict move is of the revision that the mover
 * knows; any other holds within one life of the claim, and is decided anew on what is read after a lost write.
 */
import { Effect, Option } from "effect"
import type { BusError } from "#bus"
import { moved, type Move } from "./claim-policy.ts"
import type { Claim, ClaimStore } from "./ClaimStore.ts"
import { ClaimLost } from "./errors.ts"

// A renewal may come between a holder's read and its move, a sweep's question between a settler's; hardly both twice.
const triesMax = 4

export const moveClaim = Effect.fnUntraced(function* (
  store: ClaimStore,
  claim: Claim,
  step: Move,
  isStrict: boolean
): Effect.fn.Return<Claim, ClaimLost | BusError> {
  let current = claim
  for (let tries = 0; tries < triesMax; tries += 1) {
    const next = moved(current.record, step)
    if (next === undefined) break
    const written = yield* store.write(current.key, next, current.revision).pipe(
      Effect.asSome,
      Effect.catchTag("RevisionConflict", () => Effect.succeedNone)
    )
    if (Option.isSome(written)) return written.value
    const found = Option.getOrUndefined(yield* store.read(claim.key))
    if (found === undefined) return yield* lost(claim, step, null)
    const isOurs = !isStrict && found.record.ticket === claim.record.ticket
    if (!isOurs) return yield* lost(claim, step, found.record.state)
    current = found
  }
  return yield* lost(claim, step, current.record.state)
})

const lost = (claim: Claim, step: Move, state: string | null) =>
  new ClaimLost({ claimKey: claim.key, move: step._tag, state })
