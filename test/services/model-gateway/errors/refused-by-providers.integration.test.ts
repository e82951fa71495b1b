import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat, money, withGateway } from "../../../support/gateway.ts"
import { chatPath, type ErrorBody } from "./error-body.ts"

/** A provider's refusal, as an order to the local one, and the caller's answer. */
const refusals = [
  ["!reject temperature", 400, "INVALID_PARAMETER"],
  ["!context-length", 400, "CONTEXT_LENGTH_EXCEEDED"],
  ["!content-filter", 400, "CONTENT_FILTERED"],
  ["!tool-id", 400, "TOOL_ID_FORMAT_ERROR"],
  ["!reasoning", 400, "REASONING_FORMAT_ERROR"],
  ["!message-order", 400, "INVALID_REQUEST"],
  ["!too-large", 400, "REQUEST_TOO_LARGE"],
  ["!image-url", 400, "INVALID_IMAGE_URL"],
  ["!rate-limit 7", 429, "RATE_LIMITED"],
  ["!quota", 503, "PROVIDER_CONFIG_ERROR"],
  ["!credential", 503, "PROVIDER_CONFIG_ERROR"],
  ["!balance", 503, "PROVIDER_CONFIG_ERROR"],
  ["!forbidden", 503, "PROVIDER_CONFIG_ERROR"],
  ["!model-missing", 503, "MODEL_UNAVAILABLE"],
  ["!overloaded", 503, "MODEL_UNAVAILABLE"],
  ["!status 503", 503, "MODEL_UNAVAILABLE"],
  ["!html", 503, "MODEL_UNAVAILABLE"],
  ["!reset", 503, "MODEL_UNAVAILABLE"],
  ["!server-error", 500, "INTERNAL_ERROR"],
  ["!bad-json", 500, "INTERNAL_ERROR"],
  ["!content-type", 500, "INTERNAL_ERROR"],
  ["!empty", 500, "INTERNAL_ERROR"],
  ["!gateway-timeout", 504, "TIMEOUT"],
  ["!status 422", 400, "INVALID_REQUEST"]
] as const

describe("a provider's refusal", () => {
  for (const model of ["demo/echo", "claude/echo"]) {
    for (const stream of [false, true]) {
      it.live(`is reported by its code and never charged: ${model}${stream ? ", streamed" : ""}`, () =>
        withGateway((gateway) =>
          Effect.gen(function* () {
            for (const [order, status, code] of refusals) {
              gateway.payments.steps.length = 0
              const answer = yield* ask(gateway, chatPath, chat(order, { model, stream }), money)
              const body = answer.body as unknown as ErrorBody
              assert.deepStrictEqual([answer.status, body.code], [status, code], order)
              assert.strictEqual(body.error.code, code)
              assert.strictEqual(body.message, body.error.message)
              assert.notMatch(answer.text, /sk-proj|10\.0\.3\.7|echo-1|https?:|platform\.example/u, order)
              assert.deepStrictEqual(gateway.payments.steps, ["pay", "release"], order)
            }
          })
        )
      )
    }
  }

  it.live("names the parameter, the wait, and the owner of the limit", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        const rejected = (yield* ask(gateway, chatPath, chat("!reject top_p"), money)).body as unknown as ErrorBody
        assert.strictEqual(rejected.error.param, "top_p")
        assert.strictEqual(rejected.error.type, "invalid_request_error")
        assert.include(rejected.debug ?? "", "top_p")

        const limited = yield* ask(gateway, chatPath, chat("!rate-limit 9"), money)
        assert.strictEqual(limited.headers.get("retry-after"), "9")
        assert.strictEqual(limited.headers.get("x-ratelimit-source"), "demo")
        const body = limited.body as unknown as ErrorBody
        assert.deepInclude(body, { source: "demo", retry_after_seconds: 9 })
        assert.strictEqual(body.error.type, "rate_limit_error")
      })
    )
  )

  it.live("is a matter of capacity for a free model", () =>
    withGateway((gateway) =>
      Effect.gen(function* () {
        for (const [stream, code] of [
          [false, "FREE_MODEL_FAILED"],
          [true, "STREAM_FAILED"]
        ] as const) {
          const answer = yield* ask(gateway, chatPath, chat("!overloaded", { model: "demo/free", stream }))
          assert.strictEqual(answer.status, 429)
          assert.deepInclude(answer.body, { code, retry_after_seconds: 30, source: "demo" })
          assert.strictEqual(answer.headers.get("retry-after"), "30")
        }
        const rejected = yield* ask(gateway, chatPath, chat("!reject seed", { model: "demo/free" }))
        assert.strictEqual(rejected.status, 400)
      })
    )
  )
})
