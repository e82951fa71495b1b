import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { newKey } from "../../../support/attacker.ts"
import { ask, chat, eventsOf, type GatewayAnswer } from "../../../support/gateway.ts"
import { type SigningOptions, payingFetch, quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"
import { layouts } from "../../../support/payment-layouts.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"

const chatPath = "/api/v1/chat/completions"

/** A payment for a call, signed by hand. */
const signed = (
  fleet: PaymentFleet,
  body: unknown,
  options: SigningOptions = {},
  path = chatPath,
  key?: `0x${string}`
) =>
  Effect.promise(async () => {
    const unpaid = await fetch(`${fleet.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body)
    })
    await unpaid.body?.cancel()
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("no quote")
    return signPayment(key ?? fleet.chain.payer.privateKey, offer, options)
  })

const pay = (fleet: PaymentFleet, body: unknown, payment: string, path = chatPath): Effect.Effect<GatewayAnswer> =>
  ask(fleet, path, body, { "payment-signature": payment })

const upstreamCalls = ({ upstream }: PaymentFleet) =>
  upstream.calls.filter(({ path }) => !path.endsWith("/models")).length

describe.each(layouts)("a paid call, $layout", ({ withPayments }) => {
  it.live("is quoted, paid by the protocol's own client, settled, answered, and not sold a second time", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const client = payingFetch(fleet.chain.payer.privateKey)
        const response = yield* Effect.promise(() =>
          client(`${fleet.url}${chatPath}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(chat("hello there"))
          })
        )
        const text = yield* Effect.promise(() => response.text())
        assert.strictEqual(response.status, 200, text)
        assert.include(text, "hello there")
        assert.match(response.headers.get("x-payment-receipt") ?? "", /^0x[0-9a-f]{64}$/u)

        const body = chat("once more")
        const payment = yield* signed(fleet, body)
        assert.strictEqual((yield* pay(fleet, body, payment)).status, 200)
        const again = yield* pay(fleet, body, payment)
        assert.strictEqual(again.status, 402)
        assert.strictEqual(again.body["code"], "PAYMENT_REPLAY")
        assert.isTrue(again.headers.has("payment-required"))
        assert.strictEqual(yield* balanced(fleet), 2)
        assert.strictEqual(upstreamCalls(fleet), 2)

        const metrics = yield* fleet.metrics
        const usd = (series: RegExp) => Number(series.exec(metrics)?.[1])
        const revenue = usd(/^gateway_charged_usd_total\{[^}]*model="demo\/echo",outcome="settled"\} (\S+)$/mu)
        const pending = usd(/^gateway_charged_usd_total\{[^}]*model="demo\/echo",outcome="pending"\} (\S+)$/mu)
        const cost = usd(/^gateway_provider_cost_usd_total\{[^}]*model="demo\/echo",provider="plain"\} (\S+)$/mu)
        assert.isAbove(revenue + pending, 0)
        assert.isAbove(cost, 0)
        assert.isBelow(cost, revenue + pending)
        const costs = (yield* fleet.receipts).map(({ providerCost }) => Number(providerCost))
        assert.isTrue(costs.every((units) => units > 0))
        assert.closeTo(
          costs.reduce((sum, units) => sum + units / 1e6, 0),
          cost,
          1e-9
        )
      })
    )
  )

  it.live("costs nothing when its model fails, and its payment is good for a retry", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const failing = chat("!status 503")
        const payment = yield* signed(fleet, failing)
        assert.strictEqual((yield* pay(fleet, failing, payment)).status, 503)
        assert.deepStrictEqual(yield* fleet.claimStates, ["RELEASED"])

        const body = chat("!delay 1")
        assert.strictEqual((yield* pay(fleet, body, payment)).status, 200)

        const broken = chat("!drop 3", { stream: true })
        const stream = yield* signed(fleet, broken)
        const said = yield* pay(fleet, broken, stream)
        assert.include(said.text, '"error"')
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("accepts the payment of a stream that ended in 504 once more, with the rest of its time", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const late = chat("!status 504", { stream: true })
        // Signed for 600 s, of which the wait for a first byte has taken 120 s.
        const payment = yield* signed(fleet, late, { validForSeconds: 480 })
        for (const _try of [1, 2]) {
          const said = yield* pay(fleet, late, payment)
          assert.deepStrictEqual([said.status, said.body["code"]], [504, "TIMEOUT"])
        }
        const body = chat("!delay 1ms.", { stream: true })
        const served = yield* pay(fleet, body, payment)
        assert.strictEqual(served.status, 200, served.text)
        assert.strictEqual(yield* balanced(fleet), 1)

        const short = yield* pay(fleet, body, yield* signed(fleet, body, { validForSeconds: 300 }))
        assert.strictEqual(short.status, 402)
        assert.match(String(short.body["debug"]), /good for (?:299|300|29\d) s, and this call needs 420 s/u)
        const long = yield* pay(fleet, body, yield* signed(fleet, body, { validForSeconds: 3_600 }))
        assert.deepStrictEqual([long.status, long.body["code"]], [402, "PAYMENT_UNFUNDED"])
        assert.notInclude(String(long.body["debug"]), "expired")
        assert.match(String(long.body["debug"]), /s ahead; it may be at most maxTimeoutSeconds, 600 s, and 60 s/u)
      })
    )
  )

  it.live("pays for a stream after its last chunk, and for a stream that the caller leaves midway", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("one two three", { stream: true })
        const said = yield* pay(fleet, body, yield* signed(fleet, body))
        const { data, comments } = eventsOf(said.text)
        assert.strictEqual(data.at(-1), "[DONE]")
        assert.strictEqual(comments.filter((comment) => comment.startsWith("payment-response ")).length, 1)
        assert.strictEqual(yield* balanced(fleet), 1)
        const costs = Effect.map(fleet.receipts, (all) => all.flatMap(({ providerCost }) => providerCost ?? []))
        assert.lengthOf(yield* costs, 1)

        const long = chat("!words 1000 20", { stream: true })
        const payment = yield* signed(fleet, long)
        yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const response = await fetch(`${fleet.url}${chatPath}`, {
            method: "POST",
            headers: { "content-type": "application/json", "payment-signature": payment },
            body: JSON.stringify(long),
            signal: leaving.signal
          })
          await response.body?.getReader().read()
          leaving.abort()
        })
        yield* eventually(fleet.transfers, { is: (all) => all.length === 2 })
        assert.strictEqual(yield* balanced(fleet), 2)
        // How far the provider had come with the second is not known.
        assert.lengthOf(yield* costs, 1)
      })
    )
  )

  it.live("is answered once more to a caller with its payment-identifier, and to no other", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const identifier = "call-0123456789abcdef"
        const body = chat("remember this")
        const payment = yield* signed(fleet, body, { identifier })
        const first = yield* pay(fleet, body, payment)
        const again = yield* pay(fleet, body, payment)
        assert.deepStrictEqual([first.status, again.status], [200, 200])
        assert.strictEqual(again.text, first.text)
        assert.strictEqual(again.headers.get("x-payment-receipt"), first.headers.get("x-payment-receipt"))

        const other = yield* pay(fleet, body, yield* signed(fleet, body, { identifier }))
        assert.strictEqual(other.status, 409)
        const unnamed = JSON.parse(Buffer.from(payment, "base64").toString("utf8")) as { extensions?: unknown }
        delete unnamed.extensions
        const stolen = yield* pay(fleet, body, Buffer.from(JSON.stringify(unnamed)).toString("base64"))
        assert.strictEqual(stolen.body["code"], "PAYMENT_REPLAY")

        const picture = { model: "demo/picture", prompt: "a starling" }
        const images = "/api/v1/images/generations"
        const forPicture = yield* signed(fleet, picture, {}, images)
        const made = yield* pay(fleet, picture, forPicture, images)
        const lost = yield* pay(fleet, picture, forPicture, images)
        assert.deepStrictEqual([made.status, lost.status], [200, 200])
        assert.deepStrictEqual(lost.body, made.body)
        assert.strictEqual(yield* balanced(fleet), 2)
        assert.strictEqual(upstreamCalls(fleet), 2)
      })
    )
  )
})

// In parallel: the payment takes the time.
describe.concurrent.each(layouts)("a paid stream, $layout", ({ withPayments }) => {
  it.live("is settled during the stream when its payment would expire before the end", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          // Half a minute before its end a payment must be collected.
          const body = chat("!words 480 25", { stream: true })
          const payment = yield* signed(fleet, body, { validForSeconds: 34 })
          const going = yield* Effect.forkChild(pay(fleet, body, payment))
          yield* eventually(fleet.transfers, { is: (all) => all.length === 1 })
          assert.strictEqual(fleet.upstream.calls[0]?.state, "running")
          const { data, comments } = eventsOf((yield* Fiber.join(going)).text)
          assert.strictEqual(data.at(-1), "[DONE]")
          assert.strictEqual(comments.filter((comment) => comment.startsWith("payment-response ")).length, 1)
          assert.strictEqual(yield* balanced(fleet), 1)
        }),
      { payments: { MaxTimeoutSeconds: 60 } }
    )
  )
})

describe("a payment", () => {
  it.live("is taken after a 400, and after PAYMENT_UNFUNDED once its wallet is funded", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const key = newKey()
        const body = chat("hello")
        const payment = yield* signed(fleet, body, {}, chatPath, key)
        const unfunded = yield* pay(fleet, body, payment)
        assert.deepStrictEqual([unfunded.status, unfunded.body["code"]], [402, "PAYMENT_UNFUNDED"])
        yield* fleet.chain.fund(privateKeyToAccount(key).address, 1_000_000n)
        for (const refused of [chat("hello", { max_tokens: "many" }), chat("!status 400")])
          assert.strictEqual((yield* pay(fleet, refused, payment)).status, 400)
        const taken = yield* pay(fleet, body, payment)
        assert.strictEqual(taken.status, 200, taken.text)
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("that is short, empty, forged or about to expire is refused before any model is called", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const body = chat("hello")
        const codeOf = (payment: string, of = body) =>
          Effect.map(pay(fleet, of, payment), (said) => [
            said.status,
            said.body["code"],
            said.headers.has("payment-required")
          ])

        const poor = `0x${"11".repeat(32)}` as const
        assert.deepStrictEqual(yield* codeOf(yield* signed(fleet, body, {}, chatPath, poor)), [
          402,
          "PAYMENT_UNFUNDED",
          true
        ])
        const cheap = yield* signed(fleet, body)
        const dear = chat("hello ".repeat(2_000))
        assert.deepStrictEqual(yield* codeOf(cheap, dear), [402, "PAYMENT_INVALID", true])
        assert.deepStrictEqual(yield* codeOf(yield* signed(fleet, body, { validForSeconds: 60 })), [
          402,
          "PAYMENT_UNFUNDED",
          true
        ])
        assert.deepStrictEqual(yield* codeOf(yield* signed(fleet, body, { validForSeconds: 3_000 })), [
          402,
          "PAYMENT_UNFUNDED",
          true
        ])
        assert.deepStrictEqual(yield* codeOf("no payment"), [402, "PAYMENT_INVALID", true])
        for (const path of ["/v1/messages", "/v1/responses"]) {
          const told = yield* pay(fleet, { ...body, input: "hello", max_tokens: 5 }, "no payment", path)
          assert.strictEqual(told.headers.get("x-error-code"), "PAYMENT_INVALID", path)
          assert.deepInclude(told.body["error"], { type: "payment_required", code: "PAYMENT_INVALID" }, path)
        }
        const forged = JSON.parse(Buffer.from(cheap, "base64").toString("utf8")) as { payload: { signature: string } }
        forged.payload.signature = `0x${"22".repeat(64)}1b`
        const header = Buffer.from(JSON.stringify(forged)).toString("base64")
        assert.deepStrictEqual(yield* codeOf(header), [402, "PAYMENT_INVALID", true])

        assert.strictEqual(upstreamCalls(fleet), 0)
        assert.strictEqual(yield* balanced(fleet), 0)
      })
    )
  )
})
