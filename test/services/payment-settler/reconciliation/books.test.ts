import { assert, describe, it } from "@effect/vitest"
import { type BookFinding, canBeMended, findingKinds, type Receipt } from "#payments/contract"
import type { ChainTransfer } from "#payments"
import {
  bookFinding,
  carriedOf,
  findingId,
  resolvedIds
} from "../../../../services/payment-settler/reconciliation/Books.ts"
import { type Finding, reconcile } from "../../../../services/payment-settler/reconciliation/findings.ts"
import { withCarried } from "../../../../services/payment-settler/reconciliation/open-entries.ts"
import { receiptOf } from "../../../support/money.ts"
import { testNetwork } from "../../../support/payments.ts"

const receipt: Receipt = receiptOf("one")
const transfer: ChainTransfer = {
  transaction: receipt.transaction ?? "",
  network: receipt.network,
  asset: receipt.asset,
  payer: receipt.payer,
  payTo: receipt.payTo,
  amount: BigInt(receipt.amount),
  nonce: null,
  position: "7:0"
}
const claim = {
  key: receipt.claimKey,
  state: "SETTLING",
  network: receipt.network,
  payer: receipt.payer,
  transactions: [],
  validBeforeMs: 0,
  requestedAtMs: 0
} as const

const late: Finding = { _tag: "ReceiptWithoutTransfer", receipt }
const gift: Finding = { _tag: "TransferWithoutReceipt", transfer, claimKey: null }
const overdue: Finding = { _tag: "SettlingOverdue", claim }
const kept = (finding: Finding): BookFinding => bookFinding(testNetwork, finding, 1_000)

const foundIn = (
  transfers: ReadonlyArray<ChainTransfer>,
  receipts: ReadonlyArray<Receipt>,
  findings: Array<Finding>
) => {
  const window = withCarried({ transfers, receipts }, carriedOf(findings.map(kept)))
  return reconcile([], window.transfers, window.receipts, { nowMs: 2_000, graceMs: 0 })
}

const idsOf = (findings: ReadonlyArray<Finding>) => new Set(findings.map((finding) => findingId(testNetwork, finding)))

describe("a finding in the books", () => {
  it("has an id of its own on each account, the same whenever it is found", () => {
    const ids = [late, gift, overdue].map((finding) => findingId(testNetwork, finding))
    assert.strictEqual(new Set(ids).size, 3)
    assert.strictEqual(findingId({ ...testNetwork, PayTo: testNetwork.PayTo.toLowerCase() }, gift), ids[1])
    assert.notStrictEqual(findingId({ ...testNetwork, PayTo: `0x${"11".repeat(20)}` }, gift), ids[1])
  })

  it("keeps its transfer, receipts and claims, with exact amounts", () => {
    assert.deepInclude(kept(gift), { kind: "TransferWithoutReceipt", claimKeys: [], receipts: [], end: null })
    assert.strictEqual(kept(gift).transfer?.amount, "1000")
    assert.deepStrictEqual([kept(late).receipts, kept(late).claimKeys], [[receipt], [receipt.claimKey]])
    assert.deepStrictEqual(kept(overdue).claimKeys, [claim.key])
  })

  it("stands while the comparison finds it, and is over when its other half comes later", () => {
    assert.deepStrictEqual(resolvedIds([kept(late)], idsOf(foundIn([], [], [late]))), [])
    const found = foundIn([transfer], [], [late])
    assert.deepStrictEqual(found, [])
    assert.deepStrictEqual(resolvedIds([kept(late)], idsOf(found)), [kept(late).id])
    assert.deepStrictEqual(resolvedIds([kept(gift)], idsOf(foundIn([], [receipt], [gift]))), [kept(gift).id])
  })

  it("is not found twice when a process that starts reads its half again", () => {
    assert.lengthOf(foundIn([transfer], [], [gift]), 1)
    assert.lengthOf(foundIn([], [receipt], [late]), 1)
  })

  it("of two ends of one payment stays until it is accepted", () => {
    const disagreeing: Finding = { _tag: "ReceiptsDisagree", claimKey: receipt.claimKey, receipts: [receipt, receipt] }
    assert.deepStrictEqual(resolvedIds([kept(disagreeing)], new Set()), [])
  })

  it("that has ended is not ended again", () => {
    const end = { how: "accepted", atMs: 1, by: null, reason: null } as const
    assert.deepStrictEqual(resolvedIds([{ ...kept(gift), end }], new Set()), [])
  })

  it("can be mended where a settler's own work helps, and it names a claim", () => {
    const mendable = findingKinds.filter((kind) => canBeMended({ kind, claimKeys: [claim.key] }))
    assert.deepStrictEqual(mendable, [
      "TransferWithoutReceipt",
      "UncollectedButPaid",
      "ClaimWithoutReceipt",
      "SettlingOverdue"
    ])
    assert.isFalse(canBeMended(kept(gift)))
  })
})
