import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Result } from "effect"
import { Configuration } from "#configuration"
import { ClaimMove, Claims } from "#payments"
import { sweepClaim } from "../../../../libs/payments/claims/sweep.ts"
import { keepRequesting, Settlements } from "../../../../libs/payments/claims/Settlements.ts"
import { jobsAway } from "../../../support/broker-away.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { jobs, onBus, stateOf } from "./claims-on-bus.ts"

const settlements = Settlements.layer(60_000).pipe(Layer.provide(Configuration.layerOf({})))

describe("a payment whose job cannot be stored during a broker restart", () => {
  it.live.each([
    ["nothing is stored", false],
    ["what is stored is not confirmed", true]
  ] as const)("is requested again until it is stored, once, long before the sweep, where %s", ([_where, stores]) =>
    onBus(
      Effect.gen(function* () {
        const broker = jobsAway(3, stores)
        yield* Effect.gen(function* () {
          const claim = yield* (yield* Claims).claim(checkedPayment("one"), testCall())
          const requested = yield* (yield* Settlements).request({ claim, answerKept: Effect.void })
          assert.strictEqual(yield* stateOf(claim.key), "SETTLING", "it is never given back")
          yield* eventually(() => broker.requests(), { is: 4 })
          yield* eventually(jobs, { is: ({ messages }) => messages === 1 })
          const { first } = yield* jobs
          const job = Result.getOrThrow(Option.getOrThrow(first))
          assert.strictEqual(job.claimKey, claim.key)
          assert.isNotNull(job.replyTo, "the call that waits is told")
          yield* requested.close
          assert.strictEqual((yield* jobs).messages, 1)
        }).pipe(Effect.provide(settlements.pipe(Layer.provideMerge(broker.layer))))
      })
    )
  )

  it.live("is not requested once a settler has begun with it, or the sweep has asked", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const settlingOf = (name: string) =>
          Effect.flatMap(claims.claim(checkedPayment(name, name), testCall()), (claim) =>
            claims.move(claim, ClaimMove.Settle())
          )
        const begun = yield* settlingOf("one")
        const prepared = yield* claims.move(begun, ClaimMove.Prepare({ transaction: "0xaa" }))
        yield* keepRequesting(claims, begun, null)
        yield* claims.move(prepared, ClaimMove.Settled({ transaction: "0xaa" }))
        yield* keepRequesting(claims, begun, null)
        assert.strictEqual((yield* jobs).messages, 0)
        const swept = yield* settlingOf("two")
        yield* sweepClaim(claims, { key: swept.key, revision: swept.revision, due: "AskAgain" })
        yield* keepRequesting(claims, swept, null)
        assert.strictEqual((yield* jobs).messages, 1, "the sweep's")
      })
    )
  )
})
