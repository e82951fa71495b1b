import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { ask, chat, type GatewayAnswer } from "../../../support/gateway.ts"
import { type SigningOptions, quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"

const images = "/api/v1/images/generations"
const chats = "/api/v1/chat/completions"
const picture = (prompt: string) => ({ model: "demo/picture", prompt })

const quoted = (fleet: PaymentFleet, path: string, body: unknown) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    await unpaid.body?.cancel()
    return quoteOf(unpaid)
  })

const signed = (fleet: PaymentFleet, path: string, body: unknown, options: SigningOptions = {}) =>
  Effect.flatMap(quoted(fleet, path, body), ({ accepts: [offer] }) =>
    Effect.promise(async () => {
      if (offer === undefined) throw new Error("no quote")
      return signPayment(fleet.chain.payer.privateKey, offer, options)
    })
  )

const pay = (fleet: PaymentFleet, path: string, body: unknown, payment: string): Effect.Effect<GatewayAnswer> =>
  ask(fleet, path, body, { "payment-signature": payment })

const jobOf = (answer: GatewayAnswer) => answer.headers.get("x-image-job")

describe("a payment that is sent again", () => {
  it.live("returns its image while that is made, and is charged once", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const body = picture("!delay 5500ms")
          assert.isTrue((yield* quoted(fleet, images, body)).resource.url.startsWith(`${fleet.url}/`))
          // Less is left of it than a new call would need, as of one that is sent again after minutes.
          const payment = yield* signed(fleet, images, body, { validForSeconds: 64 })
          const begun = yield* pay(fleet, images, body, payment)
          assert.strictEqual(begun.status, 202, begun.text)
          const pollUrl = String(begun.body["poll_url"])
          assert.isTrue(pollUrl.startsWith(`${fleet.url}/api/v1/images/jobs/img_`), pollUrl)

          yield* Effect.sleep("4100 millis")
          const again = yield* pay(fleet, images, body, payment)
          assert.strictEqual(again.status, 202, again.text)
          assert.deepStrictEqual(again.body, begun.body)
          assert.strictEqual(jobOf(again), jobOf(begun))
          assert.strictEqual(again.headers.get("location"), pollUrl)
          assert.isTrue(again.headers.has("retry-after"))

          const other = yield* pay(fleet, images, picture("another bird"), payment)
          assert.strictEqual(other.status, 402)

          yield* eventually(ask(fleet, new URL(pollUrl).pathname, undefined), {
            is: (job) => job.body["status"] === "completed"
          })
          yield* balanced(fleet)
          const late = yield* pay(fleet, images, body, payment)
          assert.strictEqual(late.status, 200, late.text)
          assert.match(late.headers.get("x-payment-receipt") ?? "", /^0x[0-9a-f]{64}$/u)
          assert.strictEqual(yield* balanced(fleet), 1)
          assert.strictEqual(fleet.upstream.calls.filter(({ path }) => path.endsWith("/images/generations")).length, 1)

          // The same for any named call, while it is answered.
          const named = chat("!delay 1500ms")
          const call = yield* signed(fleet, chats, named, { identifier: "call-0123456789abcdef", validForSeconds: 100 })
          const first = yield* Effect.forkChild(pay(fleet, chats, named, call))
          yield* eventually(fleet.claimStates, { is: (states) => states.includes("CLAIMED") })
          const soon = yield* pay(fleet, chats, named, call)
          assert.deepStrictEqual([soon.status, soon.headers.get("x-should-retry")], [503, "false"], soon.text)
          assert.strictEqual((yield* Fiber.join(first)).status, 200)
          assert.strictEqual((yield* pay(fleet, chats, named, call)).status, 200)
          assert.strictEqual(yield* balanced(fleet), 2)
        }),
      { gateway: { ImageInlineSeconds: 0.2 }, payments: { MaxTimeoutSeconds: 120 } }
    )
  )
})
