/**
 * Claims as stored in the bucket, and as sent in the payment messages of the bus.
 *
 * They are read from the leader and changed only by their revision. A write whose reply was lost is looked up before it
 * counts as failed; a record's ticket and count of moves show who wrote it. A message contains the claim, as facts
 * beside a verifier's answer or as a job for the settlers, so that the next worker need not read it first: its write
 * names the revision, and fails if the claim has moved in the meantime.
 */
import { Effect, Option, Result, Stream } from "effect"
import { type BusError, jsonCodec, Kv, type KvEntry, type Records, records, replaced, type DecisionContext } from "#bus"
import {
  type ClaimFacts,
  Receipt,
  SettlementJob,
  SettlementOutcome,
  VerifyAnswer,
  VerifyRequest
} from "#payments/contract"
import { ClaimLost, type ClaimMove, ClaimRecord, isAsRead, moved, type Retention, timeToLiveMs } from "./claim.ts"

export const claimBucket = "authorizations"

/** A claim as last read or written. */
export interface Claim {
  readonly key: string
  readonly revision: number
  readonly record: ClaimRecord
}

export interface ClaimStore {
  readonly read: (key: string) => Effect.Effect<Option.Option<Claim>, BusError>
  /** Every claim in the bucket, in its current state. */
  readonly all: Stream.Stream<Claim, BusError>
  readonly records: Records<ClaimRecord>
}

export const openClaimStore = Effect.fnUntraced(function* (
  retention: Retention
): Effect.fn.Return<ClaimStore, BusError, Kv> {
  const bucket = yield* (yield* Kv).open(claimBucket, ClaimRecord)
  return {
    read: (key) => Effect.map(bucket.get(key), Option.map(toClaim)),
    all: Stream.map(bucket.scan("claim.>"), toClaim),
    records: records(bucket, {
      keptMs: (record, nowMs) => timeToLiveMs(record, retention, nowMs),
      // Another mover may have continued from our write, or have come before it: the record does not show which.
      isOurs: (found, written) => isSameWrite(found, written) || undefined
    })
  }
})

const toClaim = ({ key, revision, value }: KvEntry<ClaimRecord>): Claim => ({ key, revision, record: value })

/**
 * Another mover may have moved the claim from the same revision to the same state: with another transaction, or none.
 */
export const isSameWrite = (found: ClaimRecord, written: ClaimRecord) =>
  found.ticket === written.ticket &&
  found.moves === written.moves &&
  found.state === written.state &&
  found.asked === written.asked &&
  found.transactions.join() === written.transactions.join()

/**
 * Moves a claim along its table. The first write of the next revision wins. A strict move applies to the revision that
 * the mover knows; any other is valid within one life of the claim, and is decided again on the record read after a
 * lost write.
 */
export const moveClaim = (
  store: ClaimStore,
  claim: Claim,
  step: ClaimMove,
  isStrict: boolean
): Effect.Effect<Claim, ClaimLost | BusError> => {
  const { key, revision: seen, record } = claim
  const lost = (state: string | null) => Result.fail(new ClaimLost({ claimKey: key, move: step._tag, state }))
  const decide = (found: ClaimRecord | undefined, { nowMs, revision }: DecisionContext) => {
    if (found === undefined) return lost(null)
    const isOurs = revision === seen || (!isStrict && !isAsRead(step) && found.ticket === record.ticket)
    if (!isOurs) return lost(found.state)
    const next = moved(revision === seen ? record : withFiguresOf(record, found), step, nowMs)
    return next === undefined ? lost(found.state) : replaced(next)
  }
  return Effect.map(
    store.records.change(key, decide, { known: Option.some({ key, value: record, revision: seen }) }),
    ({ answer, revision }) => ({ key, revision, record: answer })
  )
}

/** A claim as read, with the charge and the cost that its mover knows and that are not written yet. */
export const withFiguresOf = ({ providerCost, charge }: ClaimRecord, found: ClaimRecord): ClaimRecord => ({
  ...found,
  ...(providerCost === undefined ? {} : { providerCost }),
  ...(charge === undefined ? {} : { charge })
})

export const verifyRequestCodec = jsonCodec(VerifyRequest)
export const verifyAnswerCodec = jsonCodec(VerifyAnswer)
export const settlementJobCodec = jsonCodec(SettlementJob)
export const settlementOutcomeCodec = jsonCodec(SettlementOutcome)
export const receiptCodec = jsonCodec(Receipt)

/** Undefined for a claim that has ended: its payment is not kept. `nowMs`: the time of the first request. */
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
 * One id per request: within the stream's window the same question is not stored twice. The first request counts as the
 * first even if the claim does not show it yet.
 */
export const jobId = ({ ticket, asked }: ClaimRecord) => `${ticket}-${Math.max(1, asked)}`

export const factsOf = ({ revision, record }: Claim): ClaimFacts => ({
  revision,
  binding: record.binding,
  kind: record.kind,
  holder: record.holder,
  ticket: record.ticket,
  ...(record.model === undefined ? {} : { model: record.model }),
  network: record.network,
  asset: record.asset,
  payer: record.payer,
  payTo: record.payTo,
  amount: record.amount,
  moves: record.moves,
  validBeforeMs: record.validBeforeMs,
  claimedAtMs: record.claimedAtMs,
  ...(record.charge === undefined ? {} : { charge: record.charge }),
  ...(record.providerCost === undefined ? {} : { providerCost: record.providerCost })
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

/** The claim after a settler's next write: to be settled. */
export const toBeSettled = ({ key, revision, record }: Claim, requestedAtMs: number): Claim => ({
  key,
  revision,
  record: { ...record, state: "SETTLING", requestedAtMs, asked: 1 }
})

/** The same from a job; undefined when the job lacks the facts. */
export const claimOfJob = ({ claimKey, payload, requirements, requestedAtMs, claim }: SettlementJob) =>
  claim && claimOf(claimKey, claim, { state: "SETTLING", payment: { payload, requirements }, requestedAtMs, asked: 1 })
