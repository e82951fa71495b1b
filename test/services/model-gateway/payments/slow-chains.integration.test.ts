import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { fundedKey, payWith, signFor } from "../../../support/attacker.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { chat, eventsOf } from "../../../support/gateway.ts"
import { balanced, type PaymentFleet } from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"

/** Honest, and slower than any caller waits: a block comes at the test's order. */
const slow = {
  chain: { onlyInterval: true, blockTimeMs: 3_600_000 },
  payments: { SettleWaitSeconds: 0.5 }
} as const

const mine = ({ chain }: PaymentFleet) => chain.rpc("evm_mine", [])
const isSent = ({ claimStates }: PaymentFleet) => Effect.map(claimStates, (all) => all.includes("SETTLING"))

describe.each(layouts)("a chain whose blocks come later than any caller waits, $layout", ({ withPayments }) => {
  it.live(
    "whole answers go out ahead of their payment as far as a payer may have unpaid, and no payer pays again",
    () =>
      withPayments(
        (fleet) =>
          Effect.gen(function* () {
            const body = chat("hello")
            const key = yield* fundedKey(fleet)
            const identifiers = ["a-first-call-of-a-client", "a-second-call-of-a-client"] as const
            const [first, second] = yield* Effect.forEach(identifiers, (identifier) =>
              signFor(fleet, body, key, { identifier })
            )
            const given = yield* payWith(fleet, body, first ?? "")
            assert.deepStrictEqual([given.status, given.headers.get("x-payment-settled")], [200, "false"])
            const refused = yield* payWith(fleet, body, second ?? "")
            assert.deepStrictEqual([refused.status, refused.body["code"]], [429, "PAYMENT_EXPOSURE_LIMIT"])
            assert.strictEqual(fleet.upstream.calls.filter(({ path }) => !path.endsWith("/models")).length, 1)
            // The first payment under its name is neither refused nor charged twice.
            const again = yield* payWith(fleet, body, first ?? "")
            assert.deepStrictEqual([again.status, again.headers.get("x-should-retry")], [503, "false"])
            assert.deepStrictEqual(yield* fleet.receipts, [])

            yield* mine(fleet)
            assert.strictEqual(yield* balanced(fleet), 1)
            const paid = yield* payWith(fleet, body, first ?? "")
            assert.strictEqual(paid.status, 200)
            assert.isDefined(paid.body["choices"])
            assert.match(paid.headers.get("x-payment-receipt") ?? "", /^0x[0-9a-f]{64}$/u)
            assert.strictEqual((yield* payWith(fleet, body, second ?? "")).status, 200)
            yield* mine(fleet)
            assert.strictEqual(yield* balanced(fleet), 2)
          }),
        { ...slow, payments: { ...slow.payments, UnpaidNewcomerUsd: 0, UnpaidPayerMaxUsd: 0 } }
      )
  )

  it.live("a stream ends without its receipt and is settled by the next block", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello", { stream: true })
          const answer = yield* payWith(fleet, body, yield* signFor(fleet, body, yield* fundedKey(fleet)))
          assert.strictEqual(answer.status, 200)
          assert.include(eventsOf(answer.text).data.join(""), "hello")
          assert.notInclude(answer.text, "payment-response")
          assert.deepStrictEqual(yield* fleet.claimStates, ["SETTLING"])
          yield* mine(fleet)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      slow
    )
  )

  it.live("a settler that dies before the block leaves the payment to another, which settles it once", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello")
          const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
          const settler = yield* Effect.forkChild(
            Effect.scoped(Effect.andThen(fleet.start("payment-settler"), Effect.never))
          )
          const paying = yield* Effect.forkChild(payWith(fleet, body, payment))
          yield* eventually(isSent(fleet))
          assert.strictEqual((yield* Fiber.join(paying)).status, 200)
          yield* Fiber.interrupt(settler)
          yield* fleet.start("payment-settler")
          yield* mine(fleet)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      { ...slow, roles: ["payment-verifier", "model-gateway"] }
    )
  )
})
