/**
 * A claim told on the bus, so that who goes on with it need not read it first: as facts beside a verifier's answer, and as
 * a job for the settlers. The next write names the revision, so that a claim that has moved on meanwhile is noticed there.
 */
import { jsonCodec, type BusError } from "#bus"
import { SettlementJob, type ClaimFacts, type VerifyAnswer, type VerifyRequest } from "#contracts"
import type { ClaimRecord } from "./claim.ts"
import type { Claim } from "./ClaimStore.ts"
import { Effect, Option, Schedule } from "effect"
import type { Claims } from "./Claims.ts"

export const settlementJobCodec = jsonCodec(SettlementJob)

/** Undefined for a claim that has ended: its payment is not kept. `nowMs`: when it is asked for the first time. */
export const settlementJob = (
  claim: Claim,
  replyTo: SettlementJob["replyTo"],
  nowMs: number
): SettlementJob | undefined => {
  const { key, record } = claim
  if (record.payment === null) return undefined
  return {
    claimKey: key,
    payload: record.payment.payload,
    requirements: record.payment.requirements,
    payer: record.payer,
    replyTo,
    requestedAtMs: record.requestedAtMs ?? nowMs,
    ...(record.asked <= 1 ? { claim: factsOf(claim) } : {})
  }
}

/**
 * One for each time it is asked for: within the stream's window the same question is not stored twice. The first time
 * is the first whether or not the claim says it yet.
 */
export const jobId = ({ ticket, asked }: ClaimRecord) => `${ticket}-${Math.max(1, asked)}`

export const factsOf = ({ revision, record }: Claim): ClaimFacts => ({
  revision,
  binding: record.binding,
  kind: record.kind,
  holder: record.holder,
  ticket: record.ticket,
  network: record.network,
  asset: record.asset,
  payer: record.payer,
  payTo: record.payTo,
  amount: record.amount,
  moves: record.moves,
  validBeforeMs: record.validBeforeMs,
  claimedAtMs: record.claimedAtMs
})

const claimOf = (
  key: string,
  facts: ClaimFacts,
  rest: Pick<ClaimRecord, "state" | "payment" | "requestedAtMs" | "asked">
) => {
  const { revision, ...record } = facts
  return { key, revision, record: { ...record, transactions: [], reason: null, ...rest } } satisfies Claim
}

/** The claim that a verifier has taken for a call. */
export const verifiedClaim = (
  { payload, requirements }: Pick<VerifyRequest, "payload" | "requirements">,
  { claimKey, claim }: Extract<VerifyAnswer, { readonly _tag: "Verified" }>
): Claim =>
  claimOf(claimKey, claim, { state: "CLAIMED", payment: { payload, requirements }, requestedAtMs: null, asked: 0 })

/** The claim as its next write, a settler's, makes it: to be settled. */
export const toBeSettled = ({ key, revision, record }: Claim, requestedAtMs: number): Claim => ({
  key,
  revision,
  record: { ...record, state: "SETTLING", requestedAtMs, asked: 1 }
})

/** The same, of a job; undefined where the job does not say. */
export const claimOfJob = ({ claimKey, payload, requirements, requestedAtMs, claim }: SettlementJob) =>
  claim && claimOf(claimKey, claim, { state: "SETTLING", payment: { payload, requirements }, requestedAtMs, asked: 1 })

// From a quarter of a second, for an election, to two seconds, for a broker that starts.
const tries = Schedule.jittered(Schedule.min([Schedule.exponential("250 millis"), Schedule.spaced("2 seconds")]))
// The sweep asks for what nobody has reported for thirty seconds.
const patience = "25 seconds"

/**
 * Asks again for a payment whose job may not be stored, until it is: a broker that restarts is away for seconds, and
 * the sweep asks only after half a minute. The job has the id of the first, so that it is stored once however often it
 * is asked for. Given up when a settler has the payment, and when it is the sweep's turn.
 */
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
