import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { PaymentPayload, type PaymentRequirements } from "#payments/contract"
import { gatewayBases, gatewayClient, Payment } from "#gateway/api"
import { eventsOf, withGateway } from "../../../support/gateway.ts"
import { signPayment } from "../../../support/payment-client.ts"
import { balanced, withPayments } from "../../../support/payment-fleet.ts"

const clientOf = (options: Parameters<typeof gatewayClient>[0]) =>
  Effect.provide(gatewayClient(options), FetchHttpClient.layer)

const messages = [{ role: "user", content: "hello there" }] as const
const decodePayment = Schema.decodeSync(Schema.fromJsonString(PaymentPayload))

describe("the gateway's typed client", () => {
  it.live("lists the models, and fetches one by its id under every base path", () =>
    withGateway(({ url }) =>
      Effect.gen(function* () {
        for (const base of gatewayBases) {
          const api = yield* clientOf({ url, base })
          const { data } = yield* api.listModels()
          const [first] = data
          assert.strictEqual(first?.id, "demo/echo")
          assert.deepStrictEqual(yield* api.getModel({ params: { model: "demo/echo" } }), first)
          const unknown = yield* Effect.flip(api.getModel({ params: { model: "demo/ecko" } }))
          assert.include("error" in unknown ? String(unknown.error) : "", "Try one of: demo/echo")
        }
        // The slash as it is.
        const plain = yield* Effect.promise(() => fetch(`${url}/v1/models/demo/echo`))
        assert.strictEqual(plain.status, 200)
      })
    )
  )

  it.live("fails with the price of an unpaid call, pays it, and reads the answer whole or as events", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const api = yield* clientOf({ url: fleet.url, base: "/api" })
        const call = (stream: boolean) => ({ payload: { model: "demo/echo", messages, stream } })
        const paying = Effect.gen(function* () {
          const refused = yield* Effect.flip(api.createChatCompletion(call(false)))
          assert.isTrue("accepts" in refused, JSON.stringify(refused))
          const [offer] = (refused as { readonly accepts: ReadonlyArray<PaymentRequirements> }).accepts
          if (offer === undefined) return yield* Effect.die(new Error("nothing is offered"))
          const header = yield* Effect.promise(() => signPayment(fleet.chain.payer.privateKey, offer))
          return decodePayment(Buffer.from(header, "base64").toString("utf8"))
        })

        const [answer, { headers }] = yield* api
          .createChatCompletion({ ...call(false), responseMode: "decoded-and-response" })
          .pipe(Effect.provideService(Payment, yield* paying))
        assert.include(JSON.stringify(answer), "hello there")
        assert.match(headers["x-payment-receipt"] ?? "", /^0x[0-9a-f]{64}$/u)

        const response = yield* api
          .createChatCompletion({ ...call(true), responseMode: "response-only" })
          .pipe(Effect.provideService(Payment, yield* paying))
        const text = yield* Stream.mkString(Stream.decodeText(response.stream))
        assert.strictEqual(eventsOf(text).data.at(-1), "[DONE]")
        assert.strictEqual(yield* balanced(fleet), 2)
      })
    )
  )

  it.live("is described below every base path by a document and a page", () =>
    withGateway(({ url }) =>
      Effect.gen(function* () {
        for (const base of gatewayBases) {
          const api = yield* clientOf({ url, base })
          const { info } = yield* api.getDescription()
          assert.deepInclude(info, { title: "Starling models" })
          const [page, response] = yield* api.getReference({ responseMode: "decoded-and-response" })
          assert.include(page, '<h1 id="the-model-gateway">')
          assert.include(response.headers["content-security-policy"] ?? "", "default-src 'none'")
        }
      })
    )
  )
})
