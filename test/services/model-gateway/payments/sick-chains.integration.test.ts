import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { emptyWallet, offerFor } from "../../../support/attacker.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat } from "../../../support/gateway.ts"
import { quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"

const path = "/api/v1/chat/completions"

const signed = (fleet: PaymentFleet, body: unknown, key = fleet.chain.payer.privateKey) =>
  Effect.promise(async () => {
    const unpaid = await fetch(`${fleet.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("no quote")
    return signPayment(key, offer)
  })

const pay = (fleet: PaymentFleet, body: unknown, payment: string) =>
  ask(fleet, path, body, { "payment-signature": payment })

describe.each(layouts)("a chain that is down, $layout", ({ withPayments }) => {
  it.live("makes a call wait with 503, and the same payment is good afterwards", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello")
          const payment = yield* signed(fleet, body)
          yield* fleet.chain.pause
          const answer = yield* pay(fleet, body, payment)
          assert.strictEqual(answer.status, 503)
          assert.strictEqual(answer.body["code"], "PAYMENT_VERIFICATION_UNAVAILABLE")
          assert.isTrue(answer.headers.has("retry-after"))
          assert.deepStrictEqual(yield* fleet.claimStates, ["RELEASED"])
          yield* fleet.chain.resume
          // As the answer demands: again, for as long as the chain is slow to come back.
          const again = yield* Effect.repeat(pay(fleet, body, payment), { while: ({ status }) => status === 503 })
          assert.strictEqual(again.status, 200)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      { verifier: { DeadlineSeconds: 0.5 } }
    )
  )

  it.live("during the answers lets them go out unpaid, and is paid afterwards", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("!delay 4s")
          const [first, second] = [yield* signed(fleet, body), yield* signed(fleet, body)]
          const both = yield* Effect.forkChild(
            Effect.all([pay(fleet, body, first), pay(fleet, body, second)], { concurrency: 2 })
          )
          yield* eventually(() => fleet.upstream.calls.length, { is: 2 })
          yield* fleet.chain.pause
          const answers = yield* Fiber.join(both)
          yield* fleet.chain.resume
          for (const { status, headers } of answers) {
            assert.deepStrictEqual([status, headers.get("x-payment-settled")], [200, "false"])
          }
          assert.strictEqual(yield* balanced(fleet), 2)
        }),
      { payments: { SettleWaitSeconds: 1 } }
    )
  )
})

describe.each(layouts)("a payer who empties the wallet while the model works, $layout", ({ withPayments }) => {
  it.live("gets no answer, and nothing is charged", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const key = `0x${"33".repeat(32)}` as const
        const body = chat("!delay 3s")
        const { address } = privateKeyToAccount(key)
        const price = BigInt((yield* offerFor(fleet, body)).amount)
        yield* fleet.chain.fund(address, 2n * price)
        const payments = [yield* signed(fleet, body, key), yield* signed(fleet, body, key)]
        const both = yield* Effect.forkChild(
          Effect.forEach(payments, (payment) => pay(fleet, body, payment), { concurrency: 2 })
        )
        yield* eventually(() => fleet.upstream.calls.length, { is: 2 })
        yield* emptyWallet(fleet, key, price)
        const answers = yield* Fiber.join(both)
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 402])
        const refused = answers.find(({ status }) => status === 402)
        assert.strictEqual(refused?.body["error"], "Payment settlement failed")
        assert.strictEqual(refused?.body["code"], "PAYMENT_UNFUNDED")
        assert.strictEqual(refused?.headers.get("x-should-retry"), "false")
        assert.notInclude(refused?.text ?? "", "delay")
        assert.strictEqual(yield* balanced(fleet), 1)
        assert.deepStrictEqual((yield* fleet.claimStates).toSorted(), ["SETTLED", "UNCOLLECTED"])

        // No answer went out, so a payer who refills the wallet is served again.
        yield* fleet.chain.fund(address, 50_000n)
        const after = chat("hello again")
        assert.strictEqual((yield* pay(fleet, after, yield* signed(fleet, after, key))).status, 200)
      })
    )
  )
})

describe("a gateway without a verifier", () => {
  it.live("says that no verifier answers", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("hello")
          const answers = yield* pay(fleet, body, yield* signed(fleet, body))
          assert.strictEqual(answers.status, 503)
          assert.strictEqual(answers.body["code"], "PAYMENT_VERIFICATION_UNAVAILABLE")
        }),
      { roles: ["model-gateway"] }
    )
  )
})

describe.each(layouts)("two settlers with several keys, $layout", ({ withPayments }) => {
  it.live("settle fifty payments at once, each once", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        yield* fleet.start("payment-settler")
        const body = chat("hello")
        const payments = yield* Effect.forEach(Array.from({ length: 50 }), () => signed(fleet, body), {
          concurrency: 10
        })
        const answers = yield* Effect.forEach(payments, (payment) => pay(fleet, body, payment), { concurrency: 50 })
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
        assert.strictEqual(yield* balanced(fleet), 50)
      })
    )
  )
})
