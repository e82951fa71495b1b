import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { claimKeyOf, type Receipt } from "#payments/contract"
import type { ChainTransfer } from "#payments"
import {
  type Finding,
  reconcile,
  type ReconciledClaim
} from "../../../../services/payment-settler/reconciliation/findings.ts"
import { testRequirements } from "../../../support/payments.ts"

const { network, asset, payTo } = testRequirements
const times = { nowMs: 2_000_000, graceMs: 60_000 }
const keyOf = (name: string) => claimKeyOf({ network, asset, payer: `0xA${name}`, nonce: `0xn${name}` })

const claim = (name: string, change: Partial<ReconciledClaim> = {}): ReconciledClaim => ({
  key: keyOf(name),
  state: "SETTLED",
  network,
  payer: `0xA${name}`,
  transactions: [`0xt${name}`],
  validBeforeMs: 1_000_000,
  requestedAtMs: 1,
  ...change
})
const transfer = (name: string, change: Partial<ChainTransfer> = {}): ChainTransfer => ({
  transaction: `0xt${name}`,
  network,
  asset,
  payer: `0xa${name}`,
  payTo,
  amount: 100n,
  nonce: null,
  position: "1",
  ...change
})
const receipt = (name: string, change: Partial<Receipt> = {}): Receipt => ({
  claimKey: keyOf(name),
  network,
  asset: asset.toLowerCase(),
  payer: `0xA${name}`,
  payTo,
  amount: "100",
  outcome: "settled",
  transaction: `0xt${name}`,
  reason: null,
  requestedAtMs: 0,
  settledAtMs: 1,
  ...change
})
const tags = (findings: ReadonlyArray<Finding>) => findings.map(({ _tag }) => _tag)

describe("the reconciliation", () => {
  it("finds nothing when every claim has a receipt and every receipt its transfer, in any spelling of addresses", () => {
    const claims = [claim("1"), claim("2")]
    const findings = reconcile(claims, [transfer("1"), transfer("2")], [receipt("1"), receipt("2")], times)
    assert.deepStrictEqual(findings, [])
  })

  it.each<
    readonly [
      finding: Finding["_tag"],
      claims: ReadonlyArray<ReconciledClaim>,
      transfers: ReadonlyArray<ChainTransfer>,
      receipts: ReadonlyArray<Receipt>
    ]
  >([
    ["TransferWithoutReceipt", [], [transfer("1")], []],
    ["ReceiptWithoutTransfer", [claim("1")], [], [receipt("1")]],
    ["AmountDiffers", [claim("1")], [transfer("1", { amount: 99n })], [receipt("1")]],
    [
      "ReceiptsDisagree",
      [claim("1")],
      [transfer("1")],
      [receipt("1"), receipt("1", { outcome: "uncollected", transaction: null })]
    ],
    [
      "TransferCountedTwice",
      [claim("1"), claim("2")],
      [transfer("1")],
      [receipt("1"), receipt("2", { transaction: "0xt1", payer: "0xA1" })]
    ],
    ["ClaimWithoutReceipt", [claim("1", { transactions: [] })], [], []],
    ["SettlingOverdue", [claim("1", { state: "SETTLING" })], [], []],
    [
      "UncollectedButPaid",
      [claim("1", { state: "UNCOLLECTED" })],
      [transfer("1")],
      [receipt("1", { outcome: "uncollected", transaction: null })]
    ],
    [
      // A third party submitted it: its nonce identifies the payment.
      "UncollectedButPaid",
      [claim("1", { state: "UNCOLLECTED", transactions: [] })],
      [transfer("1", { transaction: "0xother", nonce: "0xN1" })],
      [receipt("1", { outcome: "uncollected", transaction: null })]
    ]
  ])("shows %s", (finding, claims, transfers, receipts) => {
    assert.deepStrictEqual(tags(reconcile(claims, transfers, receipts, times)), [finding])
  })

  it("ignores payments under way", () => {
    const now = { ...times, nowMs: 1_000_000 }
    const open = [
      claim("1", { state: "SETTLING" }),
      claim("2", { state: "CLAIMED", transactions: [] }),
      claim("3", { state: "SERVING", transactions: [] }),
      claim("4", { state: "RELEASED", transactions: [] })
    ]
    assert.deepStrictEqual(reconcile(open, [transfer("1")], [], now), [])
  })

  it("finds a settlement overdue once its payment's time is over, and a grace after it", () => {
    const late = [claim("1", { state: "SETTLING", transactions: [] })]
    const at = (nowMs: number) => tags(reconcile(late, [], [], { nowMs, graceMs: 60_000 }))
    assert.deepStrictEqual(at(1_000_001), [])
    assert.deepStrictEqual(at(1_060_000), [])
    assert.deepStrictEqual(at(1_060_001), ["SettlingOverdue"])
  })

  it("tells a transfer of a claim that ended unpaid from one of a claim that was settled", () => {
    const uncollected = receipt("1", { outcome: "uncollected", transaction: null })
    const of = (state: ReconciledClaim["state"], receipts: ReadonlyArray<Receipt>) =>
      tags(reconcile([claim("1", { state })], [transfer("1")], receipts, times))
    assert.deepStrictEqual(of("SETTLED", [uncollected]), ["UncollectedButPaid"])
    assert.deepStrictEqual(of("UNCOLLECTED", []), ["UncollectedButPaid", "ClaimWithoutReceipt"])
    assert.deepStrictEqual(of("SETTLED", [receipt("1", { transaction: "0xelse" })]), [
      "ReceiptWithoutTransfer",
      "TransferWithoutReceipt"
    ])
  })

  it("takes a receipt of nothing charged for one that needs no transfer", () => {
    assert.deepStrictEqual(reconcile([claim("1")], [], [receipt("1", { amount: "0", transaction: null })], times), [])
  })

  it("takes a repeated receipt for the same one", () => {
    assert.deepStrictEqual(reconcile([claim("1")], [transfer("1")], [receipt("1"), receipt("1")], times), [])
  })

  const Loss = Schema.Literals(["none", "receipt", "transfer"])
  it.prop(
    "shows every missing receipt and transfer",
    [Schema.Array(Loss).check(Schema.isMaxLength(20))],
    ([losses]) => {
      const names = losses.map((loss, index) => [String(index + 1), loss] as const)
      const kept = (what: "receipt" | "transfer") => names.flatMap(([name, loss]) => (loss === what ? [] : [name]))
      const found = tags(
        reconcile(
          names.map(([name]) => claim(name)),
          kept("transfer").map((name) => transfer(name)),
          kept("receipt").map((name) => receipt(name)),
          times
        )
      )
      const lost = (what: string) => losses.filter((loss) => loss === what).length
      assert.strictEqual(found.filter((tag) => tag === "TransferWithoutReceipt").length, lost("receipt"))
      assert.strictEqual(found.filter((tag) => tag === "ReceiptWithoutTransfer").length, lost("transfer"))
    }
  )
})
