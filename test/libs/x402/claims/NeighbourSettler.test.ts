import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { claimOfJob, toBeSettled, settlementJob } from "../../../../libs/x402/claims/settlement-job.ts"
import type { Claim } from "../../../../libs/x402/claims/ClaimStore.ts"
import {
  type NeighbourSettler,
  SettlerNextDoor,
  settlerNextDoor
} from "../../../../libs/x402/claims/NeighbourSettler.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"

const door = Effect.map(Layer.build(Layer.fresh(settlerNextDoor)), (context) => Context.get(context, SettlerNextDoor))

/** Free for some networks. */
const settlerOf = (networks: Set<string>): NeighbourSettler => ({
  isFree: (network) => networks.has(network),
  settle: () => Effect.succeed(true)
})

const [network, other] = ["eip155:84532", "eip155:8453"] as const

describe("the door to the settler of the same process", () => {
  it.effect("leads to nobody before one has entered, nor in a process that does not say its roles are neighbours", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* door).free(network))
      const apart = yield* SettlerNextDoor
      apart.enter(settlerOf(new Set([network])))
      assert.isUndefined(apart.free(network))
    })
  )

  it.effect("leads to who is there as long as it is free for the network", () =>
    Effect.gen(function* () {
      const { enter, free } = yield* door
      const networks = new Set<string>([network])
      const settler = settlerOf(networks)
      enter(settler)
      assert.strictEqual(free(network), settler)
      assert.isUndefined(free(other))
      networks.clear()
      assert.isUndefined(free(network))
      networks.add(network)
      assert.strictEqual(free(network), settler)
    })
  )

  it.effect("stays with the first who entered, and is given back only by who has it", () =>
    Effect.gen(function* () {
      const { enter, free } = yield* door
      const [first, second, third] = [
        settlerOf(new Set([network])),
        settlerOf(new Set([network])),
        settlerOf(new Set())
      ]
      const leaveFirst = enter(first)
      const leaveSecond = enter(second)
      assert.strictEqual(free(network), first)
      leaveSecond()
      assert.strictEqual(free(network), first)
      leaveFirst()
      assert.isUndefined(free(network))
      const leaveAgain = enter(second)
      assert.strictEqual(free(network), second)
      leaveFirst()
      assert.strictEqual(free(network), second)
      leaveAgain()
      enter(third)
      assert.isUndefined(free(network))
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
  it("is to be settled from now on, asked for once, and nothing else of it is changed", () => {
    const claim = claimed()
    assert.deepStrictEqual(toBeSettled(claim, 2_000), {
      ...claim,
      record: { ...claim.record, state: "SETTLING", requestedAtMs: 2_000, asked: 1 }
    })
  })

  it("is the very claim that a job for it would tell, whether it is a stream's or a whole answer's", () => {
    const whole = claimed()
    const stream: Claim = { ...whole, record: { ...whole.record, state: "SERVING", kind: "stream", moves: 2 } }
    for (const claim of [whole, stream]) {
      const job = settlementJob(claim, null, 2_000)
      assert.isDefined(job)
      assert.deepStrictEqual(toBeSettled(claim, 2_000), claimOfJob(job))
    }
  })
})
