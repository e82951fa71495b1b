import { assert, describe, it } from "@effect/vitest"
import type { Channel } from "#payments"
import { faultsOfChannel, sumsOf } from "../../../../services/payment-settler/channels/channel-books.ts"
import {
  batchesOf,
  claimableOf,
  claimReason,
  inOrder,
  lostOf
} from "../../../../services/payment-settler/channels/claiming.ts"
import { mirrorOf, network, testConfig, voucherOf } from "../../../libs/payments/channels/channel-at-work.ts"

interface Facts {
  readonly charged: number
  readonly claimed?: number
  readonly balance?: number
  readonly withdraws?: boolean
  readonly signed?: number | null
}

const channelOf = ({
  charged,
  claimed = 0,
  balance = 10_000,
  withdraws = false,
  signed = charged
}: Facts): Channel => ({
  network,
  config: testConfig,
  charged: String(charged),
  signed: signed === null ? null : voucherOf(signed),
  mirror: mirrorOf({
    balance: String(balance),
    totalClaimed: String(claimed),
    withdrawRequestedAt: withdraws ? 1_700_000_000 : 0
  }),
  work: null,
  ended: null,
  chargedAtMs: 0
})

const terms = { unitsMax: 5_000n, everyMs: 60_000 }

describe("channels are claimed", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<Facts>, number, string | undefined]> = [
    ["not when nothing was charged", [{ charged: 0 }], 1_000_000, undefined],
    ["not when all is claimed", [{ charged: 700, claimed: 700, withdraws: true }], 1_000_000, undefined],
    ["not before the time", [{ charged: 700 }], 59_999, undefined],
    ["when the time is over", [{ charged: 700 }, { charged: 0 }], 60_000, "period"],
    ["before the time when one owes much", [{ charged: 700 }, { charged: 5_000 }], 10, "exposure"],
    ["not before the time when many owe little", [{ charged: 4_999 }, { charged: 4_999 }], 10, undefined],
    [
      "at once when a payer that owes withdraws",
      [{ charged: 9_000 }, { charged: 1, withdraws: true }],
      10,
      "withdrawal"
    ],
    ["not when a payer withdraws that owes nothing", [{ charged: 0, withdraws: true }], 10, undefined]
  ]
  it.each(cases)("%s", (_, channels, sinceMs, reason) => {
    assert.strictEqual(claimReason(channels.map(channelOf), terms, sinceMs, 0), reason)
  })

  it("those that withdraw first, then those that owe most", () => {
    const order = [
      { charged: 100 },
      { charged: 5, withdraws: true },
      { charged: 900 },
      { charged: 0 },
      { charged: 50, withdraws: true }
    ]
    assert.deepStrictEqual(
      inOrder(order.map(channelOf)).map(({ charged }) => charged),
      ["50", "5", "900", "100"]
    )
  })

  it("in transactions of at most so many", () => {
    assert.deepStrictEqual(
      batchesOf(
        Array.from({ length: 130 }, (_, index) => index),
        64
      ).map(({ length }) => length),
      [64, 64, 2]
    )
    assert.deepStrictEqual(batchesOf([]), [])
  })
})

describe("of a channel", () => {
  it("what was charged is claimed, by the voucher that covers it", () => {
    const row = claimableOf(channelOf({ charged: 700, signed: 1_000, claimed: 200 }))
    assert.strictEqual(row?.totalClaimed, 700n)
    assert.strictEqual(row?.maxClaimable, 1_000n)
  })

  it("no more is claimed than lies in it, and the rest is lost", () => {
    const drained = channelOf({ charged: 700, balance: 500 })
    assert.strictEqual(claimableOf(drained)?.totalClaimed, 500n)
    assert.strictEqual(lostOf(drained), 200n)
    assert.deepStrictEqual(faultsOfChannel(drained), [
      { fault: "200 of what is charged has left the channel", amount: "200" }
    ])
  })

  it("nothing is claimed without a voucher, and the books say so", () => {
    const uncovered = channelOf({ charged: 700, signed: null })
    assert.isUndefined(claimableOf(uncovered))
    assert.deepStrictEqual(faultsOfChannel(uncovered), [
      { fault: "700 is charged without a voucher for it", amount: "700" }
    ])
    assert.deepStrictEqual(faultsOfChannel(channelOf({ charged: 700 })), [])
  })
})

describe("the sums of the channels", () => {
  it("fit: what is charged is claimed or can still be claimed", () => {
    const sums = sumsOf([
      channelOf({ charged: 700, claimed: 200 }),
      channelOf({ charged: 50, claimed: 50 }),
      channelOf({ charged: 900, balance: 600 })
    ])
    assert.deepStrictEqual(sums, { charged: 1_650n, claimed: 250n, unclaimed: 1_400n, balance: 20_600n, lost: 300n })
    assert.strictEqual(sums.charged, sums.claimed + sums.unclaimed)
  })
})
