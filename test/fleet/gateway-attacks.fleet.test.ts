import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import {
  altered,
  fundedKey,
  newKey,
  offerFor,
  path,
  payloadIn,
  payWith,
  signFor,
  termsIn,
  written
} from "../support/attacker.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { ask, chat } from "../support/gateway.ts"
import { signPayment } from "../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../support/payment-fleet.ts"

const curveOrder = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const asked = (fleet: PaymentFleet, count: number) =>
  eventually(() => fleet.upstream.calls.length, { is: (length) => length >= count })

describe("attack 1: one authorization used many times at once", () => {
  it.live("is served once and settled once, of 600 with 200 in flight, over two verifiers", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = chat("!delay 300ms")
          const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
          const calls = Array.from({ length: 600 }, () => payWith(fleet, body, payment))
          const said = yield* Effect.all(calls, { concurrency: 200 })
          const codes = said.map(({ status, body: told }) => (status === 200 ? "served" : told["code"]))
          assert.deepStrictEqual(
            codes.toSorted().filter((code) => code !== "PAYMENT_REPLAY"),
            ["served"]
          )
          assert.strictEqual(fleet.upstream.calls.length, 1)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      { roles: ["payment-verifier", "payment-verifier", "payment-settler", "model-gateway"] }
    )
  )
})

describe("attack 2: one authorization in another encoding", () => {
  it.live("is the same authorization: re-encoded, with reordered keys, in another case, under another name", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        assert.strictEqual((yield* payWith(fleet, body, payment)).status, 200)
        const { authorization, signature } = termsIn(payment)
        const payload = payloadIn(payment)
        const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
        const turned = Object.fromEntries(Object.entries(authorization).toReversed())
        const spellings = [
          payment.replace(/=+$/u, ""),
          Buffer.from(JSON.stringify(payload, undefined, 4)).toString("base64"),
          written({ ...payload, payload: { authorization: turned, signature }, extensions: { more: { info: {} } } }),
          altered(payment, { from: authorization.from.toLowerCase(), nonce: upper(authorization.nonce) }),
          altered(payment, { to: authorization.to.toLowerCase() }),
          altered(payment, { signature: upper(signature) })
        ]
        for (const spelled of spellings) {
          const said = yield* payWith(fleet, body, spelled)
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_REPLAY"], spelled)
        }
        const alias = yield* ask(fleet, path, body, { "x-payment": payment })
        assert.deepStrictEqual([alias.status, alias.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("is refused with the malleable second signature, before and after the first use", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const payment = yield* signFor(fleet, body, yield* fundedKey(fleet))
        const { signature } = termsIn(payment)
        const s = (curveOrder - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0")
        const v = signature.endsWith("1b") ? "1c" : "1b"
        const twin = altered(payment, { signature: `${signature.slice(0, 66)}${s}${v}` })
        const before = yield* payWith(fleet, body, twin)
        assert.deepStrictEqual([before.status, before.body["code"]], [402, "PAYMENT_INVALID"])
        assert.strictEqual((yield* payWith(fleet, body, payment)).status, 200)
        assert.strictEqual((yield* payWith(fleet, body, twin)).status, 402)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )
})

describe("attack 3: a claim that a failed attempt burns, or releases too early", () => {
  it.live(
    "a payment is good again after a wrong request, a failed model and an empty wallet, and not after settlement",
    () =>
      withPayments((fleet) =>
        Effect.gen(function* () {
          const key = newKey()
          const good = chat("hello there...")
          const failing = chat("!status 503 ..")
          const payment = yield* signFor(fleet, good, key)
          const poor = yield* payWith(fleet, good, payment)
          assert.deepStrictEqual([poor.status, poor.body["code"]], [402, "PAYMENT_UNFUNDED"])
          yield* fleet.chain.fund(privateKeyToAccount(key).address, 1_000_000n)
          assert.strictEqual((yield* payWith(fleet, { model: "demo/echo" }, payment)).status, 400)
          assert.strictEqual((yield* payWith(fleet, failing, payment)).status, 503)
          assert.strictEqual((yield* payWith(fleet, good, payment)).status, 200)
          const used = yield* payWith(fleet, good, payment)
          assert.deepStrictEqual([used.status, used.body["code"]], [402, "PAYMENT_REPLAY"])
          assert.strictEqual(yield* balanced(fleet), 1)
        })
      )
  )
})

describe("attack 4: an authorization for one call used for another", () => {
  it.live("of another price gets a quote with that price, and no model call", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const cheap = yield* signFor(fleet, chat("hi"), yield* fundedKey(fleet))
        const dear = chat("a long prompt ".repeat(400))
        const said = yield* payWith(fleet, dear, cheap)
        assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        const quoted = yield* offerFor(fleet, dear)
        const fresh = Buffer.from(said.headers.get("payment-required") ?? "", "base64").toString("utf8")
        assert.include(fresh, `"amount":"${quoted.amount}"`)
        assert.strictEqual(fleet.upstream.calls.length, 0)
        assert.deepStrictEqual(yield* fleet.claimStates, [])
      })
    )
  )

  it.live("of the same price counts as one use, whatever the path, the body and the model", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const first = chat("!delay 600ms")
        const payment = yield* signFor(fleet, first, yield* fundedKey(fleet))
        const served = yield* Effect.forkChild(payWith(fleet, first, payment), { startImmediately: true })
        yield* asked(fleet, 1)
        const during = yield* payWith(fleet, chat("other 600 ms"), payment)
        assert.deepStrictEqual([during.status, during.body["code"]], [402, "PAYMENT_REPLAY"])
        assert.strictEqual((yield* Fiber.join(served)).status, 200)
        const elsewhere = yield* payWith(fleet, chat("!delay 600ms"), payment, "/v1/chat/completions")
        assert.strictEqual(elsewhere.body["code"], "PAYMENT_REPLAY")
        assert.strictEqual(fleet.upstream.calls.length, 1)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("that signs less than its terms say is refused", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const key = yield* fundedKey(fleet)
        const offer = yield* offerFor(fleet, body)
        const less = yield* Effect.promise(() => signPayment(key, { ...offer, amount: "1" }))
        const lying = written({ ...payloadIn(less), accepted: offer })
        const raised = altered(lying, { value: offer.amount })
        for (const payment of [less, lying, raised]) {
          const said = yield* payWith(fleet, body, payment)
          assert.deepStrictEqual([said.status, said.body["code"]], [402, "PAYMENT_INVALID"])
        }
        assert.strictEqual(fleet.upstream.calls.length, 0)
      })
    )
  )
})
