import { assert, describe, it } from "@effect/vitest"
import type { Receipt } from "#payments/contract"
import type { ChainTransfer } from "#payments"
import { doneWith } from "../../../../services/payment-settler/reconciliation/open-entries.ts"

const transfer = (transaction: string): ChainTransfer => ({
  transaction,
  network: "eip155:84532",
  asset: "0xa",
  payer: "0xP",
  payTo: "0xb",
  amount: 1n,
  nonce: null,
  position: transaction
})

const receipt = (transaction: string | null): Receipt => ({
  claimKey: `claim.${transaction}`,
  network: "eip155:84532",
  asset: "0xa",
  payer: "0xp",
  payTo: "0xb",
  amount: "1",
  outcome: transaction === null ? "uncollected" : "settled",
  transaction,
  reason: null,
  requestedAtMs: 0,
  settledAtMs: 0
})

const patience = { isRecentTransfer: () => true, isRecentReceipt: () => true }
const none = { isRecentTransfer: () => false, isRecentReceipt: () => false }
const window = (transfers: string, receipts: ReadonlyArray<string | null>) => ({
  transfers: [...transfers].map(transfer),
  receipts: receipts.map(receipt)
})

describe("the finished entries of the reconciliation", () => {
  it.each([
    ["pairs in any order", "abc", ["b", "a", "c"], { transfers: 3, receipts: 3 }],
    ["nothing behind a transfer that is waited with", "axb", ["a", "b"], { transfers: 1, receipts: 1 }],
    ["nothing behind a receipt that is waited with", "ab", ["a", "y", "b"], { transfers: 1, receipts: 1 }],
    ["no half of a pair whose other half stays", "xab", ["a", "b"], { transfers: 0, receipts: 0 }],
    ["no transfer whose receipt is the first that stays", "axa", ["a"], { transfers: 0, receipts: 0 }],
    ["no receipt whose transfer is the first that stays", "a", ["a", "y", "a"], { transfers: 0, receipts: 0 }],
    ["payments that were never collected", "a", [null, "a", null], { transfers: 1, receipts: 3 }],
    ["nothing of nothing", "", [], { transfers: 0, receipts: 0 }]
  ] as const)("are %s", (_what, transfers, receipts, wanted) => {
    assert.deepStrictEqual(doneWith(window(transfers, receipts), patience), wanted)
  })

  it("include those without a counterpart, once their grace period is over", () => {
    assert.deepStrictEqual(doneWith(window("axb", ["a", "y", "b"]), none), { transfers: 3, receipts: 3 })
  })
})
