import { HTTPFacilitatorClient } from "@x402/core/http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat } from "../../../support/gateway.ts"
import { withLocalSettler } from "../../../support/local-settler.ts"
import { payingFetch, quoteOf, signPayment } from "../../../support/payment-client.ts"
import { balanced, type PaymentFleet, withPayments } from "../../../support/payment-fleet.ts"

type Requirements = Parameters<HTTPFacilitatorClient["verify"]>[1]
type Payload = Parameters<HTTPFacilitatorClient["verify"]>[0]

const path = "/api/v1/chat/completions"

/** A payment as another x402 server would hold it. */
const payment = (fleet: PaymentFleet, changes: Partial<Requirements> = {}) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const unpaid = await fetch(`${fleet.url}${path}`, { method: "POST", headers, body: JSON.stringify(chat("hello")) })
    const [offer] = quoteOf(unpaid).accepts
    if (offer === undefined) throw new Error("no quote")
    const requirements = { ...offer, ...changes } as Requirements
    const header = await signPayment(fleet.chain.payer.privateKey, { ...offer, ...changes } as typeof offer)
    return { requirements, payload: JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Payload }
  })

describe("the facilitator's API", () => {
  it.live("verifies and settles for the protocol's own client, each payment once", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const client = new HTTPFacilitatorClient({ url: fleet.facilitator })
        const { payload, requirements } = yield* payment(fleet)
        const supported = yield* Effect.promise(() => client.getSupported())
        assert.deepStrictEqual(
          supported.kinds.map(({ scheme, network }) => [scheme, network]),
          [["exact", fleet.chain.network]]
        )
        const verified = yield* Effect.promise(() => client.verify(payload, requirements))
        assert.isTrue(verified.isValid)
        const settled = yield* Effect.promise(() => client.settle(payload, requirements))
        assert.isTrue(settled.success)
        assert.match(settled.transaction, /^0x[0-9a-f]{64}$/u)

        const again = yield* ask({ url: fleet.facilitator }, "/settle", {
          x402Version: 2,
          paymentPayload: payload,
          paymentRequirements: requirements
        })
        assert.strictEqual(again.body["errorReason"], "duplicate_settlement")
        assert.strictEqual(yield* balanced(fleet), 1)
      })
    )
  )

  it.live("uses the settler of its own process, once and without a job", () =>
    withLocalSettler((fleet) =>
      Effect.gen(function* () {
        const { payload, requirements } = yield* payment(fleet)
        const client = new HTTPFacilitatorClient({ url: fleet.facilitator })
        const settled = yield* Effect.promise(() => client.settle(payload, requirements))
        assert.isTrue(settled.success)
        assert.strictEqual(yield* balanced(fleet), 1)
        assert.deepStrictEqual([yield* fleet.jobs, yield* fleet.sent], [0, 1])
      })
    )
  )

  it.live("spends no fees on payments to others, and explains the faults of a body", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { payload, requirements } = yield* payment(fleet, { payTo: fleet.chain.payer.address })
        const asked = { x402Version: 2, paymentPayload: payload, paymentRequirements: requirements }
        const settled = yield* ask({ url: fleet.facilitator }, "/settle", asked)
        assert.strictEqual(settled.body["success"], false)
        assert.strictEqual(settled.body["errorReason"], "invalid_payment_requirements")
        const broken = yield* ask({ url: fleet.facilitator }, "/verify", { x402Version: 2 })
        assert.strictEqual(broken.status, 400)
        assert.include(String(broken.body["invalidMessage"]), "/paymentPayload")
        assert.strictEqual(yield* balanced(fleet), 0)
      })
    )
  )

  it.live("can serve a gateway of another fleet", () =>
    withPayments((near) =>
      withPayments(
        (far) =>
          Effect.gen(function* () {
            const pay = payingFetch(near.chain.payer.privateKey)
            const headers = { "content-type": "application/json" }
            const body = JSON.stringify(chat("hello"))
            const answer = yield* Effect.promise(() => pay(`${far.url}${path}`, { method: "POST", headers, body }))
            assert.strictEqual(answer.status, 200)
            assert.isTrue(answer.headers.has("x-payment-receipt"))
            assert.strictEqual(yield* balanced(near), 1)
            assert.deepStrictEqual(yield* far.claimStates, ["SETTLED"])
          }),
        { network: { RpcUrls: [near.chain.rpcUrl], FacilitatorUrl: near.facilitator } }
      )
    )
  )
})
