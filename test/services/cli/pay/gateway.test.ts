import { assert, describe, it } from "@effect/vitest"
import { payRefusalLines } from "../../../../services/cli/pay/gateway.ts"

const lines = (status: number, body: unknown, more: { retryAfter?: string; isPaid?: boolean } = {}) =>
  payRefusalLines({
    status,
    retryAfter: more.retryAfter ?? null,
    body: typeof body === "string" ? body : JSON.stringify(body),
    isPaid: more.isPaid ?? true
  })

describe("a refusal of the gateway on the terminal", () => {
  it("of a payment names the code, the payer, the reason, and that nothing was paid", () => {
    const body = {
      error: "Payment verification failed",
      code: "PAYMENT_UNFUNDED",
      message: "Fund the wallet.",
      debug: "invalid_exact_evm_insufficient_balance",
      payer: "0xabc"
    }
    assert.strictEqual(
      lines(402, body),
      [
        "Payment verification failed: Fund the wallet. (402, PAYMENT_UNFUNDED, payer 0xabc)",
        "  invalid_exact_evm_insufficient_balance",
        "  the payment was not used, nothing was paid"
      ].join("\n")
    )
  })

  it("of a settlement says that the chain refused", () => {
    assert.include(lines(402, { error: "Payment settlement failed", code: "PAYMENT_UNFUNDED" }), "the chain refused")
  })

  it("before any payment says so, and when to come back", () => {
    const error = { message: "Slow down", type: "rate_limit_error", code: "RATE_LIMITED", param: null }
    const text = lines(429, { error, message: "Slow down", code: "RATE_LIMITED" }, { retryAfter: "60", isPaid: false })
    assert.strictEqual(text, "Slow down (429, RATE_LIMITED); try again in 60 s\n  nothing was paid")
  })

  it("that is no JSON, or only words, is shown on one line", () => {
    assert.strictEqual(lines(502, "<html>\nbad  gateway</html>"), "the gateway answered 502: <html> bad gateway</html>")
    assert.match(lines(400, { error: "Unknown model: x/y." }, { isPaid: false }), /^Unknown model: x\/y\. \(400\)\n/u)
  })
})
