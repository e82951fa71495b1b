import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option, Result } from "effect"
import { type Claim, chargeOf, claimOfJob, ClaimMove, Claims, sweepClaims } from "#payments"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { jobs, onBus } from "./claims-on-bus.ts"

const times = { leaseMs: 1_000, settleWithinMs: 500 }

const charging = (claim: Claim, charge: string): Claim => ({ ...claim, record: { ...claim.record, charge } })

describe("the charge of a claim", () => {
  it.live("outlives the gateway that wrote it last: the sweep has that much settled, and no more", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one"), testCall("stream"))
        const served = yield* claims.move(charging(claimed, "1000"), ClaimMove.Serve())
        // A renewal that knows an older revision is written on the newer one.
        yield* claims.move(charging(served, "1500"), ClaimMove.Renew())
        yield* claims.move(charging(served, "2000"), ClaimMove.Renew())
        const sweeper = yield* Effect.forkChild(sweepClaims({ holder: "settler-1", times, everyMs: 100 }))
        yield* eventually(jobs, { is: ({ messages }) => messages >= 1 })
        yield* Fiber.interrupt(sweeper)
        const { record } = Option.getOrThrow(yield* claims.read(claimed.key))
        assert.deepStrictEqual([record.state, record.charge, record.amount], ["SETTLING", "2000", "25685"])
        const job = Result.getOrThrow(Option.getOrThrow((yield* jobs).first))
        const assumed = claimOfJob(job)
        assert.strictEqual(assumed && chargeOf(assumed.record), 2_000n)
      })
    )
  )

  it.live("of nothing ends the claim without a transaction, and only once it is to be settled", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("none"), testCall())
        const early = yield* Effect.flip(claims.move(claimed, ClaimMove.Settled({ transaction: null })))
        assert.strictEqual(early._tag, "ClaimLost")
        const settling = yield* claims.move(charging(claimed, "0"), ClaimMove.Settle())
        const prepared = yield* claims.move(settling, ClaimMove.Prepare({ transaction: null }))
        const ended = yield* claims.move(prepared, ClaimMove.Settled({ transaction: null }))
        assert.deepStrictEqual([ended.record.state, ended.record.transactions], ["SETTLED", []])
        assert.strictEqual(chargeOf(ended.record), 0n)
      })
    )
  )
})
