import { assert, describe, it } from "@effect/vitest"
import type { GatewayCode } from "#gateway/api"
import { fault, faultBody } from "../../../../services/model-gateway/errors/GatewayFault.ts"

describe("a fault of the gateway on the route of messages", () => {
  it.each([
    ["PAYMENT_IDENTIFIER_TAKEN", "invalid_request_error"],
    ["INVALID_REQUEST", "invalid_request_error"],
    ["MODEL_UNAVAILABLE", "overloaded_error"],
    ["FREE_TIER_RATE_LIMITED", "rate_limit_error"],
    ["TIMEOUT", "timeout_error"],
    ["INTERNAL_ERROR", "api_error"]
  ] satisfies ReadonlyArray<readonly [GatewayCode, string]>)("has for %s Anthropic's type %s", (code, type) => {
    const { error } = faultBody("messages", fault(code)) as { readonly error: { readonly type: string } }
    assert.strictEqual(error.type, type)
  })
})
