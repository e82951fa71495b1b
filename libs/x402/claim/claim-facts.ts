/**
 * A claim told on the bus, so that who goes on with it need not read it first, and read from what was told. Pure. Its
 * next write names the revision, so that a claim that has moved on meanwhile is noticed there.
 */
import type { ClaimFacts, SettlementJob, VerifyAnswer, VerifyRequest } from "#contracts"
import type { ClaimRecord } from "./claim-record.ts"
import type { Claim } from "./ClaimStore.ts"

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
