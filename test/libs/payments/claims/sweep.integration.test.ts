import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Result } from "effect"
import { Kv } from "#bus"
import { ClaimMove, Claims, sweepClaims } from "#payments"
import { ClaimRecord } from "../../../../libs/payments/claims/claim.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { jobs, onBus, stateOf, why, settlingOf } from "./claims-on-bus.ts"

const times = { leaseMs: 1_000, settleWithinMs: 500 }

describe("the sweep", () => {
  const sweeping = (holder: string) => sweepClaims({ holder, times, everyMs: 100 })

  it.live("releases a killed holder's claims, sends its served ones to be settled, and repeats the request", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const claimed = yield* claims.claim(checkedPayment("one", "alice"), testCall("stream"))
        const served = yield* claims.move(
          yield* claims.claim(checkedPayment("two", "bob"), testCall("stream")),
          ClaimMove.Serve()
        )
        const renewed = yield* claims.claim(checkedPayment("three", "carol"), testCall("stream"))
        const renewing = yield* claims
          .move(renewed, ClaimMove.Renew())
          .pipe(Effect.delay(300), Effect.forever, Effect.forkChild)
        const sweeper = yield* Effect.forkChild(sweeping("settler-1"))

        yield* eventually(stateOf(claimed.key), { is: (state) => state === "RELEASED" })
        yield* eventually(stateOf(served.key), { is: (state) => state === "SETTLING" })
        const taken = yield* claims.claim(checkedPayment("one", "alice"), testCall("stream", "gateway-2"))
        yield* claims.move(taken, ClaimMove.Release({ reason: "done" }))
        yield* eventually(jobs, { is: ({ messages }) => messages >= 2 })
        const job = Result.getOrThrow(Option.getOrThrow((yield* jobs).first))
        assert.deepInclude(job, { claimKey: served.key, replyTo: null })
        assert.isAtLeast(Option.getOrThrow(yield* claims.read(served.key)).record.asked, 2)
        assert.strictEqual(yield* stateOf(renewed.key), "CLAIMED")
        yield* Fiber.interrupt(renewing)
        yield* Fiber.interrupt(sweeper)
      })
    )
  )

  it.live("is continued by another sweeper from the oldest open claim", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const first = yield* Effect.forkChild(sweeping("settler-1"))
        const settling = yield* settlingOf(claims, yield* claims.claim(checkedPayment("one"), testCall()), null)
        for (const name of ["a", "b", "c"]) {
          const other = yield* settlingOf(claims, yield* claims.claim(checkedPayment(name), testCall()), null)
          yield* claims.move(other, ClaimMove.Settled({ transaction: "0xaa" }))
        }
        yield* eventually(claims.read(settling.key), { is: (found) => Option.getOrThrow(found).record.asked >= 2 })
        yield* Fiber.interrupt(first)
        const askedBefore = Option.getOrThrow(yield* claims.read(settling.key)).record.asked
        const second = yield* Effect.forkChild(sweeping("settler-2"))
        yield* eventually(claims.read(settling.key), {
          is: (found) => Option.getOrThrow(found).record.asked > askedBefore
        })
        yield* Fiber.interrupt(second)
      }),
      8
    )
  )

  it.live("gives back a place without a claim", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const settling = yield* settlingOf(claims, yield* claims.claim(checkedPayment("one"), testCall("stream")), null)
        // As a settler leaves it that dies between the claim's end and the payer's record.
        const bucket = yield* (yield* Kv).open("authorizations", ClaimRecord)
        yield* bucket.update(settling.key, { ...settling.record, state: "SETTLED", payment: null }, settling.revision)
        const next = Effect.exit(claims.claim(checkedPayment("two"), testCall("stream")))
        assert.strictEqual(why(yield* next), "unpaid")
        const sweeper = yield* Effect.forkChild(sweeping("settler-1"))
        yield* eventually(next, { is: Exit.isSuccess })
        yield* Fiber.interrupt(sweeper)
      })
    )
  )
})
