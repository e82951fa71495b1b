import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { fundedKey, path, payWith, signFor } from "../../support/attacker.ts"
import {
  body,
  isSent,
  mine,
  paying,
  slow,
  startSettler,
  withLocalSettler,
  withoutSettler
} from "../../support/local-settler.ts"
import { balanced } from "../../support/payment-fleet.ts"

describe("a caller who leaves while the gateway's local settler has the payment", () => {
  it.live("is charged once, and finds the answer again by its payment and identifier", () =>
    withLocalSettler(
      (fleet) =>
        Effect.gen(function* () {
          const key = yield* fundedKey(fleet)
          const payment = yield* signFor(fleet, body, key, { identifier: "a-call-that-is-left" })
          const headers = { "content-type": "application/json", "payment-signature": payment }
          const request = { method: "POST", headers, body: JSON.stringify(body) }
          const calling = yield* Effect.forkChild(
            Effect.promise((signal) => fetch(`${fleet.url}${path}`, { ...request, signal }))
          )
          yield* isSent(fleet, 1)
          yield* Fiber.interrupt(calling)
          yield* mine(fleet)
          assert.strictEqual(yield* balanced(fleet), 1)
          const found = yield* payWith(fleet, body, payment)
          assert.strictEqual(found.status, 200)
          assert.isDefined(found.body["choices"])
          assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent, fleet.upstream.calls.length], [0, 1, 1])
        }),
      slow
    )
  )
})

describe("a settler that is shut down with its gateway", () => {
  it.live("finishes its accepted settlements before it ends, and its successor gets the next ones", () =>
    withoutSettler(
      (fleet) =>
        Effect.gen(function* () {
          const process = yield* Scope.make()
          yield* Scope.provide(startSettler(fleet), process)
          const { answer } = yield* paying(fleet, yield* fundedKey(fleet))
          yield* isSent(fleet, 1)
          const closing = yield* Effect.forkChild(Scope.close(process, Exit.void), { startImmediately: true })
          assert.deepStrictEqual([yield* fleet.claimStates, yield* fleet.receipts], [["SETTLING"], []])
          assert.isUndefined(closing.pollUnsafe())
          yield* mine(fleet)
          yield* Fiber.join(closing)
          assert.deepStrictEqual(yield* fleet.claimStates, ["SETTLED"])
          assert.deepStrictEqual(
            (yield* fleet.receipts).map(({ outcome }) => outcome),
            ["settled"]
          )
          const response = yield* answer
          assert.strictEqual(response.status, 200)
          assert.isTrue(response.headers.has("x-payment-receipt"))

          yield* startSettler(fleet)
          const next = yield* paying(fleet, yield* fundedKey(fleet))
          yield* isSent(fleet, 2)
          yield* mine(fleet)
          assert.strictEqual((yield* next.answer).status, 200)
          assert.strictEqual(yield* balanced(fleet), 2)
          assert.strictEqual(yield* fleet.jobs, 0)
        }),
      slow
    )
  )
})
