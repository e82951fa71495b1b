import { assert, describe, it } from "@effect/vitest"
import { type ChatEvent, chatReader, payRefusalLines } from "../../../../services/cli/pay/gateway.ts"

const lines = (status: number, body: unknown, more: { retryAfter?: string; isPaid?: boolean } = {}) =>
  payRefusalLines({
    status,
    retryAfter: more.retryAfter ?? null,
    body: typeof body === "string" ? body : JSON.stringify(body),
    isPaid: more.isPaid ?? true
  })

describe("a gateway's refusal on the terminal", () => {
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

  it("before any payment says so, and when to retry", () => {
    const error = { message: "Slow down", type: "rate_limit_error", code: "RATE_LIMITED", param: null }
    const text = lines(429, { error, message: "Slow down", code: "RATE_LIMITED" }, { retryAfter: "60", isPaid: false })
    assert.strictEqual(text, "Slow down (429, RATE_LIMITED); try again in 60 s\n  nothing was paid")
  })

  it("that is not JSON, or only words, is shown on one line", () => {
    assert.strictEqual(lines(502, "<html>\nbad  gateway</html>"), "the gateway answered 502: <html> bad gateway</html>")
    assert.match(lines(400, { error: "Unknown model: x/y." }, { isPaid: false }), /^Unknown model: x\/y\. \(400\)\n/u)
  })
})

const chunk = (content: string) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
const stream = [
  ": waiting\n\n",
  `data: ${JSON.stringify({ choices: [{ index: 0, delta: { role: "assistant" } }] })}\n\n`,
  chunk("Grüße "),
  chunk("🐦"),
  `data: ${JSON.stringify({ choices: [], usage: { total_tokens: 3 } })}\n\n`,
  ": payment-response eyJzdWNjZXNzIjp0cnVlfQ==\n\n",
  "data: [DONE]\n\n"
].join("")

const readIn = (text: string, bytesEach: number): ReadonlyArray<ChatEvent> => {
  const read = chatReader()
  const bytes = Buffer.from(text)
  const events: Array<ChatEvent> = []
  for (let at = 0; at < bytes.length; at += bytesEach) events.push(...read(bytes.subarray(at, at + bytesEach)))
  return events
}

describe("a streamed chat", () => {
  it.each([1, 2, 3, 7, 100_000])("is the same in pieces of %d bytes", (bytesEach) => {
    assert.deepStrictEqual(readIn(stream, bytesEach), [
      { type: "words", text: "Grüße " },
      { type: "words", text: "🐦" },
      { type: "receipt", header: "eyJzdWNjZXNzIjp0cnVlfQ==" },
      { type: "done" }
    ])
  })

  it("that fails midway names the reason", () => {
    const failed = `${chunk("a")}data: {"error":{"message":"the provider broke off","code":"MODEL_UNAVAILABLE"}}\n\n`
    const reason = "the provider broke off (MODEL_UNAVAILABLE)"
    assert.deepStrictEqual(readIn(failed, 50).at(-1), { type: "failed", reason })
  })

  it("with an invalid chunk fails", () => {
    assert.strictEqual(readIn("data: {\n\n", 50)[0]?.type, "failed")
  })
})
