/** A claim in each state, its moves, and where each leads. */
import type { ClaimMove, ClaimRecord, ClaimState } from "../../../../libs/payments/claims/claim.ts"
import { testPayload, testRequirements } from "../../../support/payments.ts"

export const record = (state: ClaimState, kind: ClaimRecord["kind"] = "whole"): ClaimRecord => ({
  state,
  network: testRequirements.network,
  asset: testRequirements.asset,
  payer: "0xAA",
  payTo: testRequirements.payTo,
  amount: "25685",
  binding: "0".repeat(64),
  kind,
  holder: "gateway-1",
  ticket: "t0",
  moves: 0,
  validBeforeMs: 1_000_000,
  claimedAtMs: 0,
  requestedAtMs: null,
  transactions: [],
  asked: 0,
  reason: null,
  payment: { payload: testPayload("one"), requirements: testRequirements }
})

export const steps: Readonly<Record<ClaimMove["_tag"], ClaimMove>> = {
  Renew: { _tag: "Renew" },
  Serve: { _tag: "Serve" },
  Settle: { _tag: "Settle" },
  AskAgain: { _tag: "AskAgain" },
  Prepare: { _tag: "Prepare", transaction: "0xaa" },
  Settled: { _tag: "Settled", transaction: "0xaa" },
  Uncollected: { _tag: "Uncollected", reason: "expired" },
  Withheld: { _tag: "Withheld", reason: "expired", isPayersDoing: false },
  Release: { _tag: "Release", reason: "upstream failed" }
}

export const allowed: Readonly<Record<ClaimState, Readonly<Partial<Record<ClaimMove["_tag"], ClaimState>>>>> = {
  CLAIMED: { Renew: "CLAIMED", Serve: "SERVING", Settle: "SETTLING", Release: "RELEASED" },
  SERVING: { Renew: "SERVING", Settle: "SETTLING", Release: "RELEASED" },
  SETTLING: {
    AskAgain: "SETTLING",
    Prepare: "SETTLING",
    Settled: "SETTLED",
    Uncollected: "UNCOLLECTED",
    Withheld: "UNCOLLECTED"
  },
  SETTLED: {},
  UNCOLLECTED: {},
  RELEASED: {}
}
