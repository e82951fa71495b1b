import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type TestGateway, withGateway } from "../../support/gateway.ts"

const page = "https://app.example.com"
const path = "/api/v1/chat/completions"

const preflight = ({ url }: TestGateway, asked: string, at = path) =>
  Effect.promise(() =>
    fetch(`${url}${at}`, {
      method: "OPTIONS",
      headers: {
        origin: page,
        "access-control-request-method": "POST",
        "access-control-request-headers": asked
      }
    })
  )
/** As a browser judges it. */
const allows = (response: Response, name: string) =>
  response.headers.get("access-control-allow-headers")?.toLowerCase().split(", ").includes(name.toLowerCase()) === true

describe("the gateway, called from a web page", () => {
  it.live("allows all headers of wallets and client libraries, under every base path", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const sent = [
          "payment-signature",
          "x-payment",
          "access-control-expose-headers",
          "content-type",
          "authorization",
          "x-api-key",
          "anthropic-version",
          "anthropic-dangerous-direct-browser-access",
          "x-stainless-lang",
          "x-stainless-retry-count",
          "openai-organization"
        ]
        const paths = [path, "/v1/messages", "/solana/api/v1/responses", "/v1/images/generations"]
        for (const at of paths) {
          const response = yield* preflight(gateway, sent.join(","), at)
          assert.strictEqual(response.status, 204)
          assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
          assert.isNull(response.headers.get("access-control-allow-credentials"))
          for (const name of sent) assert.isTrue(allows(response, name), name)
          assert.isFalse(allows(response, "cookie"))
        }
      })
    )
  )

  it.live("lets the page read quotes, receipts and limits, on answers of every kind", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const body = (model: string) => JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] })
        for (const [asked, status] of [
          [body("demo/echo"), 402],
          [body("demo/free"), 200],
          [body("no/such"), 400],
          ["{", 400]
        ] as const) {
          const response = yield* Effect.promise(() =>
            fetch(`${gateway.url}${path}`, {
              method: "POST",
              body: asked,
              headers: { origin: page, "content-type": "application/json" }
            })
          )
          assert.strictEqual(response.status, status)
          assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
          const exposed = response.headers.get("access-control-expose-headers") ?? ""
          for (const name of [
            "PAYMENT-REQUIRED",
            "X-Payment-Required",
            "WWW-Authenticate",
            "PAYMENT-RESPONSE",
            "X-PAYMENT-RESPONSE",
            "X-Payment-Receipt",
            "X-RateLimit-Reset",
            "Retry-After"
          ]) {
            assert.include(exposed.split(", "), name)
          }
        }
      })
    )
  )

  it.live("admits only the pages of the configuration, when it names any", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const response = yield* preflight(gateway, "content-type")
          assert.deepStrictEqual([response.status, response.headers.get("allow")], [405, "POST"])
          assert.isNull(response.headers.get("access-control-allow-origin"))
        }),
      { settings: { AllowedOrigins: ["https://other.example.com"] } }
    )
  )
})
