/**
 * Asks again for a payment whose job may not be stored, until it is: a broker that restarts is away for seconds, and
 * the sweep asks only after half a minute. The job has the id of the first, so that it is stored once however often it
 * is asked for. Given up when a settler has the payment, and when it is the sweep's turn.
 */
import { Effect, Option, Schedule } from "effect"
import type { BusError } from "#bus"
import type { SettlementJob } from "#contracts"
import type { Claims } from "./Claims.ts"
import type { Claim } from "./ClaimStore.ts"

// From a quarter of a second, for an election, to two seconds, for a broker that starts.
const tries = Schedule.jittered(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("2 seconds")]))
// The sweep asks for what nobody has reported for thirty seconds.
const patience = "25 seconds"

export const keepAsking = (
  claims: Pick<Claims["Service"], "read" | "ask">,
  asked: Claim,
  replyTo: SettlementJob["replyTo"]
): Effect.Effect<void> => {
  const again: Effect.Effect<void, BusError> = Effect.flatMap(claims.read(asked.key), (found) =>
    Option.isSome(found) && isUnheardOf(found.value, asked) ? claims.ask(found.value, replyTo) : Effect.void
  )
  return Effect.retry(again, { schedule: tries, while: ({ _tag }) => _tag === "BusUnavailable" }).pipe(
    Effect.timeout(patience),
    Effect.ignore
  )
}

/** No settler has begun with it, and no sweep has asked for it. */
const isUnheardOf = ({ record }: Claim, asked: Claim) =>
  record.ticket === asked.record.ticket &&
  record.state === "SETTLING" &&
  record.asked === 1 &&
  record.transactions.length === 0
