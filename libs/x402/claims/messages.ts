/**
 * The payment messages of the bus. A claim travels in them, so that the next worker need not read it first: as facts
 * beside a verifier's answer, and as a job for the settlers. The next write names the revision, so it fails if the
 * claim has moved on meanwhile.
 */
import { jsonCodec } from "#bus"
import { type ClaimFacts, Receipt, SettlementJob, SettlementOutcome, VerifyAnswer, VerifyRequest } from "#contracts"
import type { ClaimRecord } from "./claim.ts"
import type { Claim } from "./ClaimStore.ts"

export const verifyRequestCodec = jsonCodec(VerifyRequest)
export const verifyAnswerCodec = jsonCodec(VerifyAnswer)
export const settlementJobCodec = jsonCodec(SettlementJob)
export const settlementOutcomeCodec = jsonCodec(SettlementOutcome)
export const receiptCodec = jsonCodec(Receipt)

/** Undefined for a claim that has ended: its payment is not kept. `nowMs`: the moment of the first request. */
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
 * One id for each time it is asked for: within the stream's window the same question is not stored twice. The first
 * time counts as the first even if the claim does not say it yet.
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
