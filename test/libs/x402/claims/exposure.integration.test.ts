import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Option } from "effect"
import { ClaimMove, Claims } from "#x402"
import { checkedPayment, testCall } from "../../../support/payments.ts"
import { onBus, why, settlingOf } from "./claims-on-bus.ts"

describe("a payer's exposure", () => {
  for (const exposureMax of [1, 3]) {
    it.live(`is never more than ${exposureMax} unpaid streams, however many are asked for at once`, () =>
      onBus(
        Effect.gen(function* () {
          const claims = yield* Claims
          const exits = yield* Effect.forEach(
            Array.from({ length: 200 }, (_, index) => index),
            (index) => Effect.exit(claims.claim(checkedPayment(`n${index}`), testCall("stream"))),
            { concurrency: 200 }
          )
          assert.strictEqual(exits.filter(Exit.isSuccess).length, exposureMax)
          assert.strictEqual(exits.filter((exit) => why(exit) === "exposure").length, 200 - exposureMax)

          const [one] = exits.flatMap((exit) => (Exit.isSuccess(exit) ? [exit.value] : []))
          if (one === undefined) return assert.fail("nobody has a place")
          yield* claims.move(yield* settlingOf(claims, one, null), ClaimMove.Settled({ transaction: "0xaa" }))
          const next = yield* claims.claim(checkedPayment("next"), testCall("stream"))
          assert.strictEqual(next.record.state, "CLAIMED")
          // A refused payment was let go: it can be used once there is room.
          yield* claims.move(next, ClaimMove.Release({ reason: "upstream failed" }))
          const refused = exits.findIndex(Exit.isFailure)
          yield* claims.claim(checkedPayment(`n${refused}`), testCall("stream"))
        }),
        exposureMax
      )
    )
  }

  it.live("does not hold back whole answers, unless one is delivered before its payment is certain", () =>
    onBus(
      Effect.gen(function* () {
        const claims = yield* Claims
        const one = yield* claims.claim(checkedPayment("one"), testCall())
        const two = yield* claims.claim(checkedPayment("two"), testCall())
        yield* claims.expose(one)
        yield* claims.expose(one)
        const second = yield* Effect.exit(claims.expose(two))
        assert.strictEqual(Option.getOrThrow(Exit.findErrorOption(second))._tag, "ExposureReached")
        assert.strictEqual(why(yield* Effect.exit(claims.claim(checkedPayment("x"), testCall("stream")))), "exposure")
        yield* claims.move(yield* settlingOf(claims, one, null), ClaimMove.Settled({ transaction: "0xaa" }))
        yield* claims.expose(two)
      })
    )
  )
})
