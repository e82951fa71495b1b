/**
 * The end of a call that is answered: its answer is kept, its payment asked for and awaited. A whole answer goes out
 * paid, or as the one answer that a payer may have before the chain has spoken; what the chain refuses is not given.
 */
import { Effect, Schedule } from "effect"
import type { SettlementOutcome } from "#contracts"
import { settledHeaders, settlementFailed, unsettledHeaders } from "#x402"
import type { PaymentRefusal, SettledCall } from "../Till.ts"
import type { Hold, HoldParts } from "./held-call.ts"
import type { Asked, NotCommitted } from "./SettlementDesk.ts"
import { refusalOf, stillSettling, unavailable } from "./till-replies.ts"

// A stream's last event is not held back for long: what it says is only the receipt.
const streamWaitMsMax = 5_000
// A broker that is away for a moment must not cost a payer the payment; the sweep lets it go otherwise.
const releaseTries = { times: 3, schedule: Schedule.spaced("200 millis") }

export const releaseHeld = Effect.fn("Till.release")(function* ({ claims, count }: HoldParts, hold: Hold) {
  yield* hold.stop
  if (hold.isForced) return yield* Effect.logWarning("a stream that failed was settled before it did")
  yield* count("released")
  yield* claims.release(hold.claim, "the call failed").pipe(
    Effect.retry({ ...releaseTries, while: ({ _tag }) => _tag === "BusUnavailable" }),
    Effect.catch((error) => Effect.logWarning("a payment is let go when its lease ends", error))
  )
})

export const settleHeld = Effect.fn("Till.settle")(function* (
  parts: HoldParts,
  hold: Hold,
  answer: Uint8Array | null
): Effect.fn.Return<SettledCall, PaymentRefusal> {
  const asked = yield* askToSettle(parts, hold, answer)
  yield* hold.stop
  const outcome = yield* parts.timed("settle", outcomeOf(parts, hold, asked))
  return yield* outcome._tag === "Pending" && answer !== null ? unpaid(parts, hold) : answered(parts, hold, outcome)
})

const askToSettle = (parts: HoldParts, hold: Hold, answer: Uint8Array | null) => {
  const { claim, identifier } = hold
  const label = { identifier, binding: claim.record.binding }
  if (answer !== null) hold.answerKept = parts.timed("store", parts.answers.keep(claim.key, { label, body: answer }))
  return hold.asked.pipe(
    Effect.tapError((error) => Effect.logWarning("a payment could not be asked for", error)),
    Effect.catch(() => Effect.andThen(releaseHeld(parts, hold), Effect.fail(unasked(hold))))
  )
}

const unasked = ({ call }: Hold) => unavailable(call.shape, "The payment could not be settled; nothing was charged", 1)

const pending: SettlementOutcome = { _tag: "Pending", transaction: null }

const outcomeOf = ({ waitMs }: HoldParts, hold: Hold, { outcome, close }: Asked) =>
  outcome(hold.call.kind === "stream" ? Math.min(waitMs, streamWaitMsMax) : waitMs).pipe(
    Effect.ensuring(close),
    Effect.tapError((error) => Effect.logWarning("an outcome could not be read", error)),
    Effect.catch(({ _tag }: NotCommitted) =>
      _tag === "ClaimLost" ? Effect.fail(unasked(hold)) : Effect.succeed(pending)
    )
  )

/**
 * The payer's one place for an unpaid answer; then the claim once more, for a settler may have given it up, or none have
 * taken it: nothing is given out for a payment that could still be let go.
 */
const unpaid = (parts: HoldParts, hold: Hold) =>
  parts.claims.expose(hold.claim).pipe(
    Effect.andThen(parts.desk.standing(hold.claim)),
    Effect.catch(({ _tag }) =>
      _tag === "ClaimLost"
        ? Effect.fail(unasked(hold))
        : Effect.andThen(parts.count("pending"), Effect.fail(stillSettling(hold.call.shape)))
    ),
    Effect.flatMap((outcome) => answered(parts, hold, outcome))
  )

const answered = (
  { count }: HoldParts,
  { call, quote, claim }: Hold,
  outcome: SettlementOutcome
): Effect.Effect<SettledCall, PaymentRefusal> => {
  const { network, payer } = claim.record
  if (outcome._tag === "Settled") {
    const headers = settledHeaders({ transaction: outcome.transaction, network, payer })
    return Effect.as(count("settled"), { headers })
  }
  if (outcome._tag === "Refused") {
    const { code, reason } = outcome
    const reply = settlementFailed(quote, call.shape, { code, reason, payer, network, transaction: null })
    return Effect.andThen(count("settlement_refused", code), Effect.fail(refusalOf(code, reply)))
  }
  return Effect.as(count("pending"), { headers: unsettledHeaders("settlement_pending") })
}
