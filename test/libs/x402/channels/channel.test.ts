import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Channel,
  ChannelCommand,
  channelReason,
  depositFault,
  evolveAll,
  isLapsed,
  owedOf,
  unclaimedOf,
  usableOf,
  Channel as ChannelSchema
} from "../../../../libs/x402/channels/channel.ts"
import { type Dice, diceOf } from "../../../support/random-ssml.ts"
import {
  begin,
  channelAtWork,
  charge,
  lapse,
  leaseMs,
  mirror,
  network,
  receipted,
  release,
  renew,
  serve,
  signRefund,
  type Step,
  testConfig,
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

  it("goes on from what was really charged", () => {
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

  it("goes on where the chain is when money was claimed that it knows nothing of", () => {
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
    return depositFault(channel.state(), work, deposit)
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
    channel.tries(mirror({ balance: "3000", refundNonce: "1", block: 2 }))
    assert.isNull(channel.tries(next).refused)
  })

  it("is not signed beside a call, nor for money that is charged", () => {
    assert.strictEqual(after(begin(1_000)).tries(signRefund(10)).refused, channelReason.busy)
    assert.strictEqual(after(begin(1_000), charge(700)).tries(signRefund(9_301)).refused, channelReason.noBalance)
  })

  it("keeps the larger sum when another one of its number is signed", () => {
    assert.deepStrictEqual(after(signRefund(500), signRefund(20)).state().refunding, { nonce: "0", amount: "500" })
  })
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

/** A payer that means well or not, calls that end or die, money that comes, goes and is claimed. */
const lifeOf = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x5bd1e995)
  const channel = channelAtWork()
  for (let step = 0; step < 120; step += 1) {
    channel.passes(dice.below(4_000))
    channel.tries(randomCommand(dice, channel.held(), step))
  }
  return channel
}

const randomCommand = (dice: Dice, held: Channel | null, step: number): ChannelCommand => {
  if (held === null) return dice.below(3) === 0 ? begin(1_000) : mirror({ block: step })
  const ticket = `t${step}`
  const own = held.work?.ticket ?? "t0"
  const charged = Number(held.charged)
  const amount = 1 + dice.below(1_500)
  const claimed = Number(held.mirror.totalClaimed)
  const tooMuch = Math.max(1, Number(held.mirror.balance) - charged + 1)
  const moved = { ...held.mirror, block: dice.of([step, step, step - 5]) }
  return dice.of<ChannelCommand>([
    begin(charged + amount, { ticket, amount, kind: dice.of(["whole", "stream"]) }),
    begin(charged + amount, { ticket, amount, kind: dice.of(["whole", "stream"]) }),
    begin(charged + amount + dice.of([-1, 1, 5_000]), { ticket, amount }),
    begin(charged + tooMuch, { ticket, amount: tooMuch }),
    begin(charged, { ticket, amount: 0, kind: "refund" }),
    begin(charged, { ticket, amount: 0, kind: "refund" }),
    charge(dice.below(1_600), own),
    charge(dice.below(1_600), own),
    charge(dice.below(100), "t0"),
    release(dice.of([own, own, "t0"])),
    serve(own, dice.below(1_600)),
    renew(dice.of([own, "t0"]), dice.below(1_600)),
    lapse,
    mirror({ ...moved, balance: String(Number(held.mirror.balance) + 200) }),
    mirror({ ...moved, balance: String(Math.max(charged, claimed)) }),
    mirror({ ...moved, totalClaimed: String(dice.of([charged, Math.max(claimed, charged - 200), charged + 50])) }),
    mirror({ ...moved, withdrawAmount: String(dice.of([0, 2_000])), withdrawRequestedAt: dice.of([0, 7]) }),
    receipted(
      ...owedOf(held)
        .slice(0, dice.below(4))
        .map(({ ticket }) => ticket)
    ),
    receipted(...owedOf(held).map(({ ticket }) => ticket)),
    signRefund(dice.below(2_000), Number(held.mirror.refundNonce)),
    mirror({ ...moved, refundNonce: String(Number(held.mirror.refundNonce) + 1) })
  ])
}

/** What the chain does by itself with what was signed: deposits come, refunds go out, and charges are claimed. */
const honestChain = (seed: number) => {
  const dice = diceOf(Math.imul(seed, 2_654_435_761) ^ 0x2545f491)
  const channel = channelAtWork()
  channel.tries(mirror({ block: 0 }))
  const signed: Array<{ readonly nonce: number; readonly amount: number }> = []
  for (let step = 1; step < 150; step += 1) {
    channel.passes(dice.below(6_000))
    const held = channel.state()
    const ticket = `t${step}`
    const own = held.work?.ticket ?? "t0"
    const [charged, balance, nonce] = [held.charged, held.mirror.balance, held.mirror.refundNonce].map(Number) as [
      number,
      number,
      number
    ]
    const amount = 1 + dice.below(1_500)
    const left = Math.max(1, balance - charged)
    const due = signed.find((one) => one.nonce === nonce)
    const refund = { nonce, amount: dice.of([left, 1 + dice.below(left), left + 5]) }
    switch (dice.below(8)) {
      case 0:
      case 1:
        channel.tries(begin(charged + amount, { ticket, amount, kind: dice.of(["whole", "stream"]) }))
        break
      case 2:
        channel.tries(charge(dice.below(1_500), own))
        break
      case 3:
        channel.tries(dice.of([release(own), lapse, serve(own, dice.below(900))]))
        break
      case 4:
        channel.tries(receipted(...owedOf(held).map((one) => one.ticket)))
        break
      case 5:
        if (channel.tries(signRefund(refund.amount, nonce)).refused === null) signed.push(refund)
        break
      case 6:
        // Long after it was signed, or never; the settler that sent it may be gone.
        if (due !== undefined) {
          const after = { balance: String(balance - due.amount), refundNonce: String(nonce + 1) }
          channel.tries(mirror({ ...held.mirror, ...after, block: step }))
        }
        break
      default:
        channel.tries(
          mirror({
            ...held.mirror,
            balance: String(balance + dice.of([0, 3_000])),
            totalClaimed: String(charged),
            block: step
          })
        )
    }
  }
  return channel
}

describe("a random life of a channel", () => {
  const lives = (name: string, look: (life: ReturnType<typeof lifeOf>) => void) =>
    it.prop(name, [Schema.Int], ([seed]) => look(lifeOf(seed)), { arbitrary: { runs: 40 } })

  const charges = ({ facts }: Step) => facts.flatMap((fact) => (fact._tag === "Charged" ? [fact] : []))

  lives("charges only calls that were begun, and never more than their vouchers and the balance cover", ({ steps }) => {
    for (const step of steps) {
      for (const fact of charges(step)) {
        const { work, charged } = step.before ?? assert.fail("charged without a record")
        assert.strictEqual(work?.ticket, fact.ticket)
        const total = BigInt(charged) + BigInt(fact.amount)
        assert.isTrue(total <= BigInt(work?.voucher.maxClaimable ?? "0"))
        assert.deepStrictEqual(step.after?.signed, work?.voucher)
      }
    }
  })

  lives(
    "begins one call at a time, with a voucher over exactly what it may cost, within what is there",
    ({ steps }) => {
      for (const { facts, before } of steps) {
        for (const fact of facts) {
          if (fact._tag !== "Begun" || before === null) continue
          assert.isNull(before.work)
          const { voucher, amount, kind } = fact.work
          assert.strictEqual(BigInt(voucher.maxClaimable), BigInt(before.charged) + BigInt(amount))
          if (kind !== "refund") assert.isTrue(BigInt(voucher.maxClaimable) <= usableOf(before))
        }
      }
    }
  )

  lives("never lowers what was charged, and always has a voucher for what is not claimed", ({ steps }) => {
    for (const { before, after } of steps) {
      if (before === null || after === null) continue
      assert.isTrue(BigInt(after.charged) >= BigInt(before.charged))
      assert.isTrue(BigInt(after.charged) >= BigInt(after.mirror.totalClaimed))
      if (unclaimedOf(after) === 0n) continue
      assert.isTrue(BigInt(after.signed?.maxClaimable ?? "0") >= BigInt(after.charged))
    }
  })

  lives("charges every stream that had begun to go out, unless its own gateway gave it back", ({ steps }) => {
    for (const { before, after, facts } of steps) {
      if (before?.work?.isServing !== true || after?.work?.ticket === before.work.ticket) continue
      const isGivenBack = facts.some((fact) => fact._tag === "Released" && !fact.isLost)
      // Others claimed more than its voucher is for: there is nothing left to charge.
      const isOverrun = BigInt(before.charged) > BigInt(before.work.voucher.maxClaimable)
      assert.isTrue(isGivenBack || isOverrun || facts.some(({ _tag }) => _tag === "Charged"))
    }
  })

  lives("changes nothing when it refuses, and leads from the facts alone to the same state", ({ steps, held }) => {
    let replayed: Channel | null = null
    for (const { refused, before, after, facts, nowMs } of steps) {
      if (refused !== null) assert.deepStrictEqual(after, before)
      replayed = evolveAll(replayed, facts, nowMs)
    }
    assert.deepStrictEqual(replayed, held())
    const encode = Schema.encodeSync(ChannelSchema)
    if (replayed !== null) assert.deepStrictEqual(Schema.decodeSync(ChannelSchema)(encode(replayed)), replayed)
  })

  lives("owes a receipt for each charge of a call, until it is told that the receipt is written", ({ steps }) => {
    const open = new Set<string>()
    for (const { command, facts, after } of steps) {
      for (const fact of facts) {
        const isRefund = steps.some(
          ({ command }) =>
            command._tag === "Begin" &&
            fact._tag === "Charged" &&
            command.work.ticket === fact.ticket &&
            command.work.kind === "refund"
        )
        if (fact._tag === "Charged" && !isRefund) open.add(fact.ticket)
      }
      if (command._tag === "Receipted") for (const ticket of command.tickets) open.delete(ticket)
      assert.deepStrictEqual(
        (after === null ? [] : owedOf(after)).map(({ ticket }) => ticket),
        [...open]
      )
    }
  })

  it.prop(
    "loses no charge to a refund, whenever the chain makes it",
    [Schema.Int],
    ([seed]) => {
      for (const { after } of honestChain(seed).steps) {
        assert.isTrue(BigInt(after?.charged ?? "0") <= BigInt(after?.mirror.balance ?? "0"))
      }
    },
    { arbitrary: { runs: 60 } }
  )

  it("signs refunds that the chain makes late, and sells meanwhile", () => {
    const steps = Array.from({ length: 60 }, (_, seed) => honestChain(seed).steps).flat()
    const sold = steps.filter(
      ({ before, facts }) => before?.refunding !== undefined && facts.some((one) => one._tag === "Begun")
    )
    const made = steps.filter(({ before, after }) => before?.refunding !== undefined && after?.refunding === undefined)
    assert.isAbove(sold.length, 10)
    assert.isAbove(made.length, 10)
  })

  it("reaches charges, losses, refusals of every kind and refunds", () => {
    const steps = Array.from({ length: 60 }, (_, seed) => lifeOf(seed).steps).flat()
    const refusals = new Set(steps.map(({ refused }) => refused))
    for (const reason of ["busy", "mismatch", "exceedsBalance", "exceedsSigned", "workOver", "noBalance"] as const) {
      assert.isTrue(refusals.has(channelReason[reason]), reason)
    }
    const facts = steps.flatMap(({ facts }) => facts)
    assert.isTrue(facts.some((fact) => fact._tag === "Charged" && fact.isLost))
    assert.isTrue(facts.some((fact) => fact._tag === "Released" && fact.isLost))
    assert.isTrue(facts.some((fact) => fact._tag === "Begun" && fact.work.kind === "refund"))
    assert.isTrue(steps.some(({ after }) => after?.config.payer === testConfig.payer && after.network === network))
  })
})
