/** Random lives of a channel: what holds after any commands, in any order. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Channel,
  type ChannelCommand,
  channelReason,
  evolveAll,
  leftAt,
  owedOf,
  unclaimedOf,
  usableOf,
  Channel as ChannelSchema
} from "../../../../libs/payments/channels/channel.ts"
import { type Dice, diceOf } from "../../../support/random-ssml.ts"
import {
  abandon,
  begin,
  channelAtWork,
  charge,
  chargeWithAnswer,
  forget,
  lapse,
  mirror,
  network,
  receipted,
  release,
  renew,
  serve,
  signRefund,
  type Step,
  testConfig
} from "./channel-at-work.ts"

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

const leaving = { newPayerMax: 2_000n, payerMax: 3_000n }

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
    begin(charged + amount, { ticket, amount, kind: dice.of(["whole", "stream"]), leaving }),
    begin(charged + amount + dice.of([-1, 1, 5_000]), { ticket, amount }),
    begin(charged + tooMuch, { ticket, amount: tooMuch }),
    begin(charged, { ticket, amount: 0, kind: "refund" }),
    begin(charged, { ticket, amount: 0, kind: "refund" }),
    charge(dice.below(1_600), own),
    charge(dice.below(1_600), own),
    charge(dice.below(100), "t0"),
    chargeWithAnswer(dice.below(1_600), own),
    forget(held.chargedAtMs + dice.of([0, 1])),
    release(dice.of([own, own, "t0"])),
    abandon(own),
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

  lives("begins no call under terms by which its payer has left too many, but one where none was left", ({ steps }) => {
    for (const { command, facts, before, nowMs } of steps) {
      const isBegun = facts.some(({ _tag }) => _tag === "Begun")
      if (!isBegun || before === null || command._tag !== "Begin" || command.leaving === undefined) continue
      const earned = BigInt(before.charged) < 3_000n ? BigInt(before.charged) : 3_000n
      const left = leftAt(before, nowMs)
      assert.isTrue(left === 0n || left + BigInt(command.work.amount) <= 2_000n + earned)
    }
  })

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

  lives("holds an answer only of the last call that was charged, and none beside a call in work", ({ steps }) => {
    for (const { before, after, facts } of steps) {
      const answer = after?.ended?.answer
      if (answer === undefined) continue
      assert.isNull(after?.work)
      assert.isTrue(
        answer === before?.ended?.answer || facts.some((fact) => fact._tag === "Charged" && fact.answer === answer)
      )
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
