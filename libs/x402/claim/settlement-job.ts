/** A claim that is to be settled as a job for the settlers. Pure but for the codec. */
import { jsonCodec } from "#bus"
import { SettlementJob } from "#contracts"
import { factsOf } from "./claim-facts.ts"
import type { ClaimRecord } from "./claim-record.ts"
import type { Claim } from "./ClaimStore.ts"

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
