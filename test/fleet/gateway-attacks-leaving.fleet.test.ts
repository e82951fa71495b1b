import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { cancelOnChain, emptyWallet, fundedKey, path, payWith, signFor } from "../support/attacker.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { chat, eventsOf } from "../support/gateway.ts"
import { balanced, type PaymentFleet, withPayments } from "../support/payment-fleet.ts"

const asked = (fleet: PaymentFleet, count: number) =>
  eventually(() => fleet.upstream.calls.length, { is: (length) => length >= count })
const words = (text: string) =>
  eventsOf(text).data.filter((data) => data.startsWith("{") && data.includes('"content"')).length

describe("attack 5: the payer takes the money back while the model works", () => {
  it.live("a whole answer whose authorization is cancelled meanwhile is not delivered", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("!delay 800ms")
        const key = yield* fundedKey(fleet)
        const payment = yield* signFor(fleet, body, key)
        const call = yield* Effect.forkChild(payWith(fleet, body, payment), { startImmediately: true })
        yield* asked(fleet, 1)
        yield* cancelOnChain(fleet, key, payment)
        const said = yield* Fiber.join(call)
        assert.deepStrictEqual([said.status, said.body["error"]], [402, "Payment settlement failed"])
        assert.notInclude(said.text, "choices")
        assert.deepStrictEqual(yield* fleet.transfers, [])
      })
    )
  )

  it.live(
    "streams cost at most what a payer may have unpaid when the authorization is cancelled, and the payer is then refused",
    () =>
      withPayments(
        (fleet) =>
          Effect.gen(function* () {
            const body = chat("!words 12 60", { stream: true })
            const key = yield* fundedKey(fleet)
            const payments = yield* Effect.forEach([1, 2, 3], () => signFor(fleet, body, key))
            const calls = yield* Effect.forkChild(
              Effect.forEach(payments, (payment) => payWith(fleet, body, payment), { concurrency: 3 }),
              { startImmediately: true }
            )
            yield* asked(fleet, 1)
            for (const payment of payments) yield* cancelOnChain(fleet, key, payment)
            const said = yield* Fiber.join(calls)
            assert.isAtMost(said.filter(({ text }) => words(text) > 0).length, 1)
            yield* eventually(fleet.claimStates, { is: (states) => states.includes("UNCOLLECTED") })
            const next = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
            assert.strictEqual(next.status, 402)
            assert.strictEqual(words(next.text), 0)
            assert.deepStrictEqual(yield* fleet.transfers, [])
          }),
        { payments: { UnpaidNewcomerUsd: 0 } }
      )
  )

  it.live(
    "streams cost at most what a payer may have unpaid when the wallet is emptied, and no other call is served meanwhile",
    () =>
      withPayments((fleet) =>
        Effect.gen(function* () {
          const body = chat("!words 12 60", { stream: true })
          const key = yield* fundedKey(fleet, 100_000n)
          const payment = yield* signFor(fleet, body, key)
          const call = yield* Effect.forkChild(payWith(fleet, body, payment), { startImmediately: true })
          yield* asked(fleet, 1)
          yield* emptyWallet(fleet, key, 100_000n)
          const said = yield* Fiber.join(call)
          assert.isAtLeast(words(said.text), 12)
          assert.notInclude(eventsOf(said.text).comments.join(""), "payment-response")
          const before = fleet.upstream.calls.length
          const next = yield* payWith(fleet, body, yield* signFor(fleet, body, key))
          assert.isAtLeast(next.status, 402)
          assert.strictEqual(fleet.upstream.calls.length, before)
          // A payer that pays after all is served again.
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 100_000n)
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
  )
})

describe("attack 6: a client that leaves before it has paid", () => {
  it.live("pays for a stream that it leaves after the first words", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("!words 100 50", { stream: true })
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        yield* Effect.promise(async () => {
          const gone = new AbortController()
          const response = await fetch(`${fleet.url}${path}`, {
            method: "POST",
            body: JSON.stringify(body),
            headers: { "content-type": "application/json", "payment-signature": payment },
            signal: gone.signal
          })
          await response.body?.getReader().read()
          gone.abort()
        })
        assert.strictEqual(yield* balanced(fleet), 1)
        yield* eventually(() => fleet.upstream.calls[0]?.state === "cancelled")
      })
    )
  )

  it.live("is refused with an authorization that would expire before its stream", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const key = yield* fundedKey(fleet)
        for (const [more, validForSeconds] of [
          [{ stream: true }, 400],
          [{}, 100],
          [{}, 3]
        ] as const) {
          const body = chat("hello", more)
          const said = yield* payWith(fleet, body, yield* signFor(fleet, body, key, { validForSeconds }))
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_UNFUNDED"])
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})
