import { assert, describe, it } from "@effect/vitest"
import {
  ChannelCommand,
  channelReason,
  chargeReceipt,
  decideAll,
  depositFault,
  isLapsed,
  leftAt,
  leftForgottenMs,
  owedOf,
  unclaimedOf
} from "../../../../libs/payments/channels/channel.ts"
import {
  abandon,
  begin,
  channelAtWork,
  charge,
  chargeWithAnswer,
  forget,
  receipted,
  lapse,
  leaseMs,
  mirror,
  release,
  renew,
  serve,
  signRefund,
  voucherOf
} from "./channel-at-work.ts"

const opened = () => {
  const channel = channelAtWork()
  channel.tries(mirror())
  return channel
}

/** A channel after commands that must all have been carried out. */
const after = (...commands: ReadonlyArray<ChannelCommand>) => {
  const channel = opened()
  for (const command of commands) assert.isNull(channel.tries(command).refused, command._tag)
  return channel
}

describe("a channel", () => {
  it("has no record before the chain was asked for it", () => {
    const channel = channelAtWork()
    assert.strictEqual(channel.tries(begin(1_000)).refused, channelReason.missing)
    assert.strictEqual(channel.tries(lapse).refused, channelReason.missing)
    assert.isNull(channel.held())
  })

  it("charges the price of an answer and keeps the voucher that covers it", () => {
    const { state } = after(begin(1_000), charge(700))
    assert.strictEqual(state().charged, "700")
    assert.deepStrictEqual(state().signed, voucherOf(1_000))
    assert.isNull(state().work)
    assert.strictEqual(unclaimedOf(state()), 700n)
  })

  it("resumes from what was really charged", () => {
    const { state } = after(begin(1_000), charge(700), begin(1_700, { ticket: "t2" }), charge(1_000, "t2"))
    assert.strictEqual(state().charged, "1700")
  })

  it("takes a call that costs nothing", () => {
    const { state } = after(begin(1_000), charge(0))
    assert.strictEqual(state().charged, "0")
    assert.deepStrictEqual(state().signed, voucherOf(1_000))
  })

  it("takes the same voucher again when its call has failed", () => {
    const { state, tries } = after(begin(1_000), release())
    assert.strictEqual(state().charged, "0")
    assert.isNull(state().signed)
    assert.isNull(tries(begin(1_000, { ticket: "t2" })).refused)
  })

  it("goes by the later of two looks at one block, for a chain may take blocks back", () => {
    const { state } = after(mirror({ balance: "9000", block: 4 }), mirror({ balance: "8000", block: 4 }))
    assert.deepInclude(state().mirror, { balance: "8000", block: 4 })
    const { state: kept } = after(mirror({ balance: "9000", block: 4 }), mirror({ balance: "8000", block: 3 }))
    assert.deepInclude(kept().mirror, { balance: "9000", block: 4 })
  })

  it("continues where the chain is when money was claimed that it knows nothing of", () => {
    const { state, tries } = after(begin(1_000), charge(700), mirror({ totalClaimed: "2500", block: 2 }))
    assert.strictEqual(state().charged, "2500")
    assert.isNull(state().signed)
    assert.isNull(tries(begin(3_500, { ticket: "t2" })).refused)
  })

  it("keeps what was seen of a later block", () => {
    const { state } = after(mirror({ balance: "4000", block: 9 }), mirror({ balance: "10000", block: 8 }))
    assert.strictEqual(state().mirror.balance, "4000")
  })

  it("writes nothing when the chain has not moved", () => {
    assert.deepStrictEqual(opened().tries(mirror({ block: 50 })).facts, [])
  })
})

describe("a voucher is refused", () => {
  const cases: ReadonlyArray<readonly [string, ReturnType<typeof after>, ChannelCommand, string]> = [
    ["that is too small", opened(), begin(999), channelReason.mismatch],
    ["that is too large", opened(), begin(1_001), channelReason.mismatch],
    ["that was charged before", after(begin(1_000), charge(700)), begin(1_000), channelReason.mismatch],
    [
      "from before the last charge",
      after(begin(1_000), charge(700)),
      begin(1_000, { ticket: "t2" }),
      channelReason.mismatch
    ],
    ["beside a call in work", after(begin(1_000)), begin(1_000, { ticket: "t2" }), channelReason.busy],
    [
      "beside a stream whose lease is over",
      after(begin(1_000), serve()),
      begin(1_000, { ticket: "t2" }),
      channelReason.busy
    ],
    ["above the balance", opened(), begin(10_001, { amount: 10_001 }), channelReason.exceedsBalance],
    ["of a channel without money", after(mirror({ balance: "0", block: 2 })), begin(1_000), channelReason.notFound],
    [
      "over money that is being withdrawn",
      after(mirror({ withdrawAmount: "9500", withdrawRequestedAt: 5, block: 2 })),
      begin(1_000),
      channelReason.exceedsBalance
    ],
    [
      "for a refund of nothing",
      after(mirror({ balance: "700", block: 2 })),
      begin(700, { amount: 700, kind: "refund" }),
      channelReason.noBalance
    ],
    [
      "for a refund that is not the sum of the charges",
      opened(),
      begin(1, { amount: 0, kind: "refund" }),
      channelReason.mismatch
    ]
  ]
  it.each(cases)("%s", (_, channel, command, reason) => {
    const before = channel.held()
    assert.strictEqual(channel.tries(command).refused, reason)
    assert.deepStrictEqual(channel.held(), before)
  })

  it("while the rest of a channel with a withdrawal can still be spent", () => {
    const channel = after(mirror({ withdrawAmount: "9000", withdrawRequestedAt: 5, block: 2 }), begin(1_000))
    assert.isNotNull(channel.state().work)
  })
})

describe("a deposit is sent", () => {
  const fault = (channel: ReturnType<typeof after>, max: number, deposit: bigint) => {
    const work = { kind: "whole" as const, voucher: voucherOf(max), amount: "1000" }
    return depositFault(channel.state(), work, {
      deposit,
      leaving: { newPayerMax: 1_500n, payerMax: 0n },
      nowMs: channel.now()
    })
  }
  const poor = after(mirror({ balance: "500", block: 2 }))

  it("when its voucher can be used after it", () => {
    assert.isUndefined(fault(poor, 1_000, 500n))
    assert.isUndefined(fault(opened(), 1_000, 5_000n))
  })

  it("not for a voucher that is refused all the same", () => {
    assert.strictEqual(fault(poor, 1_000, 499n), channelReason.exceedsBalance)
    assert.strictEqual(fault(poor, 1_001, 5_000n), channelReason.mismatch)
    assert.strictEqual(fault(after(begin(1_000)), 1_000, 5_000n), channelReason.busy)
    assert.strictEqual(fault(after(begin(1_000), abandon()), 1_000, 5_000n), channelReason.left)
  })
})

describe("a call whose caller leaves a provider at work", () => {
  const leaving = { newPayerMax: 2_500n, payerMax: 1_000n }
  const left = (channel: ReturnType<typeof after>, ...tickets: ReadonlyArray<string>) => {
    for (const ticket of tickets) {
      channel.tries(begin(Number(channel.state().charged) + 1_000, { ticket, leaving }))
      channel.tries(abandon(ticket))
    }
    return channel
  }
  const next = (channel: ReturnType<typeof after>, amount = 1_000) =>
    channel.tries(begin(Number(channel.state().charged) + amount, { ticket: "next", amount, leaving })).refused

  it("is charged nothing, leaves the channel free, and counts with the most that it could have cost", () => {
    const channel = left(opened(), "t1")
    assert.deepInclude(channel.state(), { charged: "0", work: null, ended: { ticket: "t1", charged: "0" } })
    assert.strictEqual(leftAt(channel.state(), channel.now()), 1_000n)
    channel.tries(abandon("t1"))
    assert.strictEqual(leftAt(channel.state(), channel.now()), 1_000n, "told twice, it counts once")
  })

  it("is no reason to refuse another one within the terms, and one of any price where none was left", () => {
    assert.isNull(next(left(opened(), "t1")))
    assert.isNull(next(opened(), 9_000))
  })

  it("is one too many beyond the terms, which grow with what was charged, up to a most", () => {
    assert.strictEqual(next(left(opened(), "t1", "t2")), channelReason.left)
    const paid = (amount: number) => after(begin(1_000), charge(amount))
    assert.isNull(next(left(paid(500), "t2", "t3")))
    assert.strictEqual(next(left(paid(499), "t2", "t3")), channelReason.left)
    assert.strictEqual(next(left(paid(1_000), "t2", "t3", "t4")), channelReason.left)
  })

  it("is forgotten within a day, little by little", () => {
    const channel = left(opened(), "t1", "t2")
    const waitMs = leftForgottenMs(channel.state(), { amount: "1000" }, leaving, channel.now())
    assert.strictEqual(waitMs, 21_600_000, "a quarter of 2,000")
    channel.passes(waitMs - 1_000)
    assert.strictEqual(next(channel), channelReason.left)
    channel.passes(1_000)
    assert.isNull(next(channel))
    channel.tries(release("next"))
    channel.passes(86_400_000)
    assert.strictEqual(leftAt(channel.state(), channel.now()), 0n)
  })

  it("hinders no refund", () => {
    const channel = left(after(begin(1_000), charge(1_000)), "t2", "t3", "t4")
    const refund = { ticket: "refund", kind: "refund" as const, amount: 0, leaving }
    assert.isNull(channel.tries(begin(1_000, refund)).refused)
  })
})

describe("a charge", () => {
  it("beyond what the call was begun for is refused", () => {
    assert.strictEqual(after(begin(1_000)).tries(charge(1_001)).refused, channelReason.exceedsSigned)
  })

  it("of another call is refused", () => {
    assert.strictEqual(after(begin(1_000)).tries(charge(1_000, "t2")).refused, channelReason.workOver)
  })

  it("that was stored before is not made twice", () => {
    const channel = after(begin(1_000), charge(700), charge(700))
    assert.strictEqual(channel.state().charged, "700")
  })

  it("is refused after the call was given back", () => {
    assert.strictEqual(after(begin(1_000), release()).tries(charge(700)).refused, channelReason.workOver)
  })
})

describe("what a channel owes", () => {
  const calls = (count: number) => {
    const channel = opened()
    for (let call = 0; call < count; call += 1) {
      channel.tries(begin(100 * (call + 1), { ticket: `t${call}`, amount: 100 }))
      channel.tries(charge(100, `t${call}`))
    }
    return channel
  }

  it("is a receipt for each charge, with the most that it could have been", () => {
    const [owed] = after(begin(1_000), charge(700)).state().owed ?? []
    assert.deepInclude(owed, { ticket: "t1", amount: "700", ceiling: "1000", model: "demo/echo" })
  })

  it("is forgotten when the next voucher brings word of it", () => {
    const channel = calls(2)
    channel.tries(begin(300, { ticket: "t2", amount: 100, receipted: ["t0", "t1"] }))
    assert.deepStrictEqual(owedOf(channel.state()), [])
  })

  it("keeps the next call waiting when 32 receipts are not written", () => {
    const channel = calls(32)
    const next = (...written: ReadonlyArray<string>) => begin(3_300, { ticket: "t32", amount: 100, receipted: written })
    assert.strictEqual(channel.tries(next()).refused, channelReason.receiptsOwed)
    assert.isNull(channel.tries(next("t3")).refused)
  })

  it("keeps the next call waiting when that could exceed what may be unclaimed", () => {
    const channel = after(begin(1_000), charge(700))
    const next = begin(1_700, { ticket: "t2", unclaimedMax: 1_699n })
    assert.strictEqual(channel.tries(next).refused, channelReason.unclaimed)
    channel.tries(mirror({ totalClaimed: "700", block: 2 }))
    assert.isNull(channel.tries(next).refused)
  })

  it("keeps no call waiting whose price alone exceeds it", () => {
    assert.isNull(opened().tries(begin(1_000, { unclaimedMax: 10n })).refused)
  })

  it("is no receipt for a refund", () => {
    const channel = after(begin(1_000), charge(700), begin(700, { ticket: "t2", amount: 0, kind: "refund" }))
    channel.tries(charge(0, "t2"))
    assert.deepStrictEqual(
      owedOf(channel.state()).map(({ ticket }) => ticket),
      ["t1"]
    )
  })
})

describe("a refund that is signed", () => {
  it("is no longer sold for, until the chain has counted it", () => {
    const channel = after(signRefund(9_500))
    const next = begin(1_000)
    assert.strictEqual(channel.tries(next).refused, channelReason.exceedsBalance)
    channel.tries(mirror({ balance: "10001", block: 2 }))
    assert.strictEqual(channel.tries(next).refused, channelReason.exceedsBalance)
    channel.tries(mirror({ balance: "3000", refundNonce: "1", block: 3 }))
    assert.isNull(channel.tries(next).refused)
  })

  it("is not signed beside a call, nor for money that is charged", () => {
    assert.strictEqual(after(begin(1_000)).tries(signRefund(10)).refused, channelReason.busy)
    assert.strictEqual(after(begin(1_000), charge(700)).tries(signRefund(9_301)).refused, channelReason.noBalance)
  })

  it("keeps the larger sum when another one of its number is signed", () => {
    assert.deepStrictEqual(after(signRefund(500), signRefund(20)).state().refunding, { nonce: "0", amount: "500" })
    assert.deepStrictEqual(after(signRefund(500), signRefund(600)).state().refunding, { nonce: "0", amount: "600" })
    assert.deepStrictEqual(after(signRefund(500)).tries(signRefund(500)).facts, [])
    assert.deepStrictEqual(after(signRefund(500), signRefund(20, 1)).state().refunding, { nonce: "1", amount: "20" })
  })

  it("goes back whatever its payer still owes receipts for, or has unclaimed", () => {
    const debts = { kind: "refund", amount: 0, ticket: "t2", unclaimedMax: 1n } as const
    assert.isNull(after(begin(1_000), charge(1_000)).tries(begin(1_000, debts)).refused)
    const whole = begin(1_000, { ...debts, kind: "whole" })
    assert.isNotNull(after(begin(1_000), charge(1_000)).tries(whole).refused)
  })
})

describe("what the chain says of a channel", () => {
  it("is charged where it is more than was, with the voucher that covers it, and with none that does not", () => {
    const signedFor = (totalClaimed: string) =>
      after(begin(1_000), charge(700), mirror({ totalClaimed, block: 2 })).state()
    assert.deepInclude(signedFor("700"), { charged: "700", unreceipted: "0" })
    assert.deepInclude(signedFor("1000"), { charged: "1000", unreceipted: "300" })
    assert.isNotNull(signedFor("1000").signed)
    assert.deepInclude(signedFor("1001"), { charged: "1001", signed: null })
  })

  it("refuses a voucher for no more than what is claimed", () => {
    assert.strictEqual(after().tries(begin(0, { amount: 0 })).refused, channelReason.belowClaimed)
  })
})

it("receipts that are not owed change nothing", () => {
  const channel = after(begin(1_000), charge(700))
  assert.deepStrictEqual(channel.tries(receipted("another")).facts, [])
  assert.lengthOf(channel.tries(receipted("t1")).facts, 1)
  assert.deepStrictEqual(channel.tries(receipted("t1")).facts, [])
})

describe("an answer that was lost", () => {
  it("is known by its request until the next call has ended", () => {
    const kept = ChannelCommand.Charge({ ticket: "t1", amount: "700", holdsAnswer: true })
    const channel = after(begin(1_000), kept)
    assert.strictEqual(channel.state().ended?.binding, "request of t1")
    channel.tries(begin(1_700, { ticket: "t2" }))
    channel.tries(charge(1, "t2"))
    assert.isUndefined(channel.state().ended?.binding)
  })

  it("lies in the record with its charge where it is short, until the payer continues", () => {
    const channel = after(begin(1_000), chargeWithAnswer(700))
    assert.deepStrictEqual(channel.state().ended, {
      ticket: "t1",
      charged: "700",
      binding: "request of t1",
      answer: "SGVsbG8="
    })
    for (const other of [mirror({ block: 2 }), receipted("t1"), signRefund(100)]) channel.tries(other)
    assert.strictEqual(channel.state().ended?.answer, "SGVsbG8=")
    channel.tries(begin(1_700, { ticket: "t2" }))
    assert.deepStrictEqual(channel.state().ended, { ticket: "t1", charged: "700", binding: "request of t1" })
  })

  it("is forgotten once nobody asks for it any more", () => {
    const channel = after(begin(1_000), chargeWithAnswer(700))
    const { chargedAtMs } = channel.state()
    assert.deepStrictEqual(channel.tries(forget(chargedAtMs)).facts, [])
    channel.tries(forget(chargedAtMs + 1))
    assert.isUndefined(channel.state().ended?.answer)
    assert.strictEqual(channel.state().charged, "700")
    assert.deepStrictEqual(channel.tries(forget(chargedAtMs + 1)).facts, [])
  })
})

describe("a call whose gateway is gone", () => {
  it("keeps its place until its lease is over, and longer when it is renewed", () => {
    const channel = after(begin(1_000))
    channel.passes(leaseMs - 1)
    assert.deepStrictEqual(channel.tries(lapse).facts, [])
    channel.tries(renew())
    channel.passes(leaseMs - 1)
    assert.deepStrictEqual(channel.tries(lapse).facts, [])
    channel.passes(1)
    assert.isTrue(isLapsed(channel.state(), channel.now()))
  })

  it("costs nothing when nothing was given out", () => {
    const channel = after(begin(1_000))
    channel.passes(leaseMs)
    channel.tries(lapse)
    assert.strictEqual(channel.state().charged, "0")
    assert.isNull(channel.tries(begin(1_000, { ticket: "t2" })).refused)
  })

  it("costs what its stream was last known to cost", () => {
    const channel = after(begin(1_000, { kind: "stream" }), serve("t1", 100), renew("t1", 640))
    channel.passes(leaseMs)
    channel.tries(lapse)
    assert.strictEqual(channel.state().charged, "640")
    assert.deepStrictEqual(channel.state().signed, voucherOf(1_000))
  })

  it("never costs more than was agreed", () => {
    const channel = after(begin(1_000, { kind: "stream" }), serve("t1", 2_000))
    channel.passes(leaseMs)
    channel.tries(lapse)
    assert.strictEqual(channel.state().charged, "1000")
  })
})

describe("a call that ends without a charge", () => {
  it("counts as abandoned only where it was", () => {
    assert.isUndefined(after(begin(1_000), release()).state().left)
    assert.strictEqual(after(begin(1_000), abandon()).state().left?.amount, "1000")
  })

  it("at the end of its lease does so before another begins, and not before its own charge", () => {
    const channel = after(begin(1_000))
    const late = channel.now() + leaseMs
    const ended = decideAll(channel.state(), begin(1_000, { ticket: "t2" }), late)
    assert.deepStrictEqual([ended.after?.work?.ticket, ended.facts.length], ["t2", 2])
    const charged = decideAll(channel.state(), charge(700), late)
    assert.deepStrictEqual([charged.after?.charged, charged.facts.length], ["700", 1])
  })
})

it("the receipt of a charge names the ceiling of a call that cost less", () => {
  const receiptOf = (amount: number) => {
    const state = after(begin(1_000), charge(amount)).state()
    const [owed] = owedOf(state)
    return owed && chargeReceipt(state, "0xc1", owed)
  }
  assert.deepInclude(receiptOf(700), { amount: "700", ceiling: "1000", channel: "0xc1", transaction: null })
  assert.notProperty(receiptOf(1_000), "ceiling")
})

describe("a call that is served", () => {
  it("is noted once", () => {
    const channel = after(begin(1_000), serve())
    assert.deepStrictEqual(channel.tries(serve()).facts, [])
  })

  it("and charged is not released any more; one that was released stays so", () => {
    assert.isNotNull(after(begin(1_000), charge(700)).tries(release()).refused)
    const released = after(begin(1_000), release())
    assert.deepStrictEqual([released.tries(release()).refused, released.tries(release()).facts], [null, []])
  })

  it("is charged no more than its voucher leaves, when money was claimed without us meanwhile", () => {
    const channel = after(begin(1_000), serve("t1", 900), mirror({ totalClaimed: "400", block: 2 }))
    channel.passes(leaseMs + 1)
    assert.isNull(channel.tries(lapse).refused)
    assert.strictEqual(channel.state().charged, "1000")
  })

  it("has its provider's cost on its receipt", () => {
    const priced = ChannelCommand.Charge({ ticket: "t1", amount: "700", providerCost: "300" })
    const state = after(begin(1_000), priced).state()
    const [owed] = owedOf(state)
    assert.deepInclude(owed && chargeReceipt(state, "0xc1", owed), { providerCost: "300" })
    const [plain] = owedOf(after(begin(1_000), charge(700)).state())
    assert.notProperty(plain, "providerCost")
  })
})

it("calls of which nothing is left abandoned are waited for by none", () => {
  const terms = { newPayerMax: 0n, payerMax: 0n }
  const wait = (amount: string) =>
    leftForgottenMs({ charged: "0", left: { amount, atMs: 0 } }, { amount: "1" }, terms, 0)
  assert.deepStrictEqual([wait("0"), wait("1") > 0], [0, true])
})
