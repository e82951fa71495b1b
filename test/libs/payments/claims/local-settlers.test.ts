import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import {
  type Claim,
  claimOfJob,
  isSameWrite,
  jobId,
  settlementJob,
  toBeSettled
} from "../../../../libs/payments/claims/ClaimStore.ts"
import { type LocalSettler, LocalSettlers, localSettlers } from "../../../../libs/payments/claims/Settlements.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"

const registry = Effect.map(Layer.build(Layer.fresh(localSettlers)), (context) => Context.get(context, LocalSettlers))

/** Free for some networks. */
const settlerOf = (networks: Set<string>): LocalSettler => ({
  isFree: ({ record }) => networks.has(record.network),
  settle: () => Effect.succeed(true)
})

const claimOn = (network: string): Claim => ({ ...claimed(), record: { ...claimed().record, network } })

const [network, other] = ["eip155:84532", "eip155:8453"] as const

describe("the settler of the same process", () => {
  it.effect("is not found before one has registered, nor in a process without one", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* registry).find(claimOn(network)))
      const apart = yield* LocalSettlers
      apart.enter(settlerOf(new Set([network])))
      assert.isUndefined(apart.find(claimOn(network)))
    })
  )

  it.effect("is found as long as it is free for the network", () =>
    Effect.gen(function* () {
      const { enter, find } = yield* registry
      const networks = new Set<string>([network])
      const settler = settlerOf(networks)
      enter(settler)
      assert.strictEqual(find(claimOn(network)), settler)
      assert.isUndefined(find(claimOn(other)))
      networks.clear()
      assert.isUndefined(find(claimOn(network)))
      networks.add(network)
      assert.strictEqual(find(claimOn(network)), settler)
    })
  )

  it.effect("stays with the first that registered, and is released only by its holder", () =>
    Effect.gen(function* () {
      const { enter, find } = yield* registry
      const [first, second, third] = [
        settlerOf(new Set([network])),
        settlerOf(new Set([network])),
        settlerOf(new Set())
      ]
      const leaveFirst = enter(first)
      const leaveSecond = enter(second)
      assert.strictEqual(find(claimOn(network)), first)
      leaveSecond()
      assert.strictEqual(find(claimOn(network)), first)
      leaveFirst()
      assert.isUndefined(find(claimOn(network)))
      const leaveAgain = enter(second)
      assert.strictEqual(find(claimOn(network)), second)
      leaveFirst()
      assert.strictEqual(find(claimOn(network)), second)
      leaveAgain()
      enter(third)
      assert.isUndefined(find(claimOn(network)))
    })
  )
})

const claimed = (): Claim => {
  const { network, asset, payer, payTo, amount, claimKey, validBeforeMs, payload, requirements } = checkedPayment("one")
  return {
    key: claimKey,
    revision: 7,
    record: {
      state: "CLAIMED",
      network,
      asset,
      payer,
      payTo,
      validBeforeMs,
      amount: String(amount),
      ...testCall(),
      moves: 1,
      claimedAtMs: 1_000,
      requestedAtMs: null,
      transactions: [],
      asked: 0,
      reason: null,
      payment: { payload, requirements }
    }
  }
}

describe("a claim that is handed over", () => {
  it("is to be settled from now on, requested once, and otherwise unchanged", () => {
    const claim = claimed()
    assert.deepStrictEqual(toBeSettled(claim, 2_000), {
      ...claim,
      record: { ...claim.record, state: "SETTLING", requestedAtMs: 2_000, asked: 1 }
    })
  })

  it("equals the claim in a job, for a stream, for a whole answer, and for one with figures of its own", () => {
    const whole = claimed()
    const stream: Claim = { ...whole, record: { ...whole.record, state: "SERVING", kind: "stream", moves: 2 } }
    const figures: Claim = { ...whole, record: { ...whole.record, charge: "7", providerCost: "3", model: "a model" } }
    for (const claim of [whole, stream, figures]) {
      const job = settlementJob(claim, null, 2_000)
      assert.isDefined(job)
      assert.deepStrictEqual(toBeSettled(claim, 2_000), claimOfJob(job))
    }
  })

  it("has one job for each time that its settlement is asked for, the first before the claim shows it", () => {
    const asked = (times: number) => ({ ...claimed().record, ticket: "t", asked: times })
    assert.deepStrictEqual(
      [0, 1, 2].map((times) => jobId(asked(times))),
      ["t-1", "t-1", "t-2"]
    )
    const again = settlementJob({ ...claimed(), record: asked(2) }, null, 2_000)
    assert.isUndefined(again?.claim, "the claim has moved since, and is read")
    assert.isUndefined(settlementJob({ ...claimed(), record: { ...asked(1), payment: null } }, null, 2_000))
  })

  it("was written by the write whose answer was lost only when nothing of it differs", () => {
    const { record } = claimed()
    const others: ReadonlyArray<Partial<Claim["record"]>> = [
      { ticket: "another" },
      { moves: 2 },
      { state: "RELEASED" },
      { asked: 1 },
      { transactions: ["0xaa"] }
    ]
    assert.isTrue(isSameWrite(record, { ...record }))
    for (const other of others) assert.isFalse(isSameWrite(record, { ...record, ...other }), JSON.stringify(other))
  })
})
