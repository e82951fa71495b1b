/** A claim that is to be settled as a job for the settlers. Pure but for the codec. */
import { jsonCodec } from "#bus"
import { SettlementJob } from "#contracts"
import type { ClaimRecord } from "./claim-record.ts"

export const settlementJobCodec = jsonCodec(SettlementJob)

/** Undefined for a claim that has ended: its payment is not kept. */
export const settlementJob = (
  claimKey: string,
  record: ClaimRecord,
  replyTo: SettlementJob["replyTo"]
): SettlementJob | undefined => {
  if (record.payment === null) return undefined
  return {
    claimKey,
    payload: record.payment.payload,
    requirements: record.payment.requirements,
    payer: record.payer,
    replyTo,
    requestedAtMs: record.requestedAtMs ?? record.claimedAtMs
  }
}

/** One for each time it is asked for: within the stream's window the same question is not stored twice. */
export const jobId = ({ ticket, asked }: ClaimRecord) => `${ticket}-${asked}`
