import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { ask, chat } from "../../../support/gateway.ts"
import { withPayments } from "../../../support/payment-fleet.ts"
import { testPayload, testRequirements } from "../../../support/payments.ts"

type Json = Readonly<Record<string, unknown>>

const path = "/api/v1/chat/completions"

describe("a network whose token's name differs from the configuration", () => {
  it.live("is not offered, nothing is verified on it, and the log and health report it", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const unpaid = yield* ask(fleet, path, chat("hello"))
          assert.strictEqual(unpaid.status, 503)
          assert.isFalse(unpaid.headers.has("payment-required"))

          const supported = yield* ask({ url: fleet.facilitator }, "/supported", undefined)
          assert.deepStrictEqual((supported.body as { kinds: unknown }).kinds, [])
          const requirements = { ...testRequirements, payTo: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }
          const verified = yield* ask({ url: fleet.facilitator }, "/verify", {
            x402Version: 2,
            paymentPayload: { ...testPayload("one"), accepted: requirements },
            paymentRequirements: requirements
          })
          assert.deepInclude(verified.body, { isValid: false, invalidReason: "invalid_network" })
          assert.include(
            (verified.body as { invalidMessage: string }).invalidMessage,
            'is configured as name "USD Coin", version "2", 6 decimals, and says name "USDC", version "2", 6 decimals'
          )

          const metrics = yield* fleet.metrics
          for (const role of ["model-gateway", "payment-verifier"]) {
            assert.include(metrics, `x402_token_mismatch{role="${role}",network="eip155:84532"} 1`)
          }
          const checks = yield* fleet.readiness
          assert.isFalse(checks["payment-verifier"]?.ok)
          assert.isTrue(checks["model-gateway"]?.ok)
          for (const role of ["model-gateway", "payment-verifier"]) {
            assert.include(checks[role]?.checks["token of eip155:84532"], 'says name "USDC"')
          }
          const free: Json = (yield* ask(fleet, "/v1/models", undefined)).body
          assert.property(free, "data")
        }),
      { network: { AssetName: "USD Coin" } }
    )
  )
})
