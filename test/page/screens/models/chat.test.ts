import { assert, describe, it } from "@effect/vitest"
import {
  chatEventsOf,
  dollars,
  reasonsFor,
  receiptIn,
  usedUsd,
  waysToPay
} from "../../../../page/screens/models/chat.ts"
import { callSnippets } from "../../../../page/screens/models/snippets.ts"

describe("a streamed chat", () => {
  it.each([
    ["words", '{"choices":[{"delta":{"content":"Hello"}}]}', [{ type: "words", text: "Hello" }]],
    ["nothing where a chunk has no words", '{"choices":[{"delta":{"content":null}}]}', []],
    [
      "the tokens that were used",
      '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}',
      [{ type: "usage", usage: { inputTokens: 7, outputTokens: 3 } }]
    ],
    ["its end", "[DONE]", [{ type: "done" }]],
    ["a failure in its words", '{"error":{"message":"gone","code":"TIMEOUT"}}', [{ type: "failed", message: "gone" }]]
  ])("says %s", (_, data, events) => {
    assert.deepStrictEqual(chatEventsOf(data), events as never)
  })

  it("finds its receipt in a comment and in a header, and nowhere else", () => {
    const receipt = { success: true, transaction: "0xabc", network: "eip155:84532" }
    const encoded = Buffer.from(JSON.stringify(receipt)).toString("base64")
    assert.deepStrictEqual(receiptIn(`payment-response ${encoded}`), receipt)
    assert.deepStrictEqual(receiptIn(encoded), receipt)
    for (const other of [null, "", "keep-alive", "payment-response !"]) assert.isUndefined(receiptIn(other))
  })
})

describe("what a call costs", () => {
  it.each([
    ["0.001000", "0.001 USD"],
    ["0.025685", "0.025685 USD"],
    [2, "2.00 USD"],
    [0.5, "0.50 USD"]
  ])("writes %s as %s", (amount, text) => {
    assert.strictEqual(dollars(amount), text)
  })

  it("shows each way to pay, with the most that it can cost where it costs what is used", () => {
    const terms = { network: "eip155:8453", asset: "0x1", payTo: "0x2", maxTimeoutSeconds: 600 }
    const accepts = [
      { scheme: "exact", amount: "2000", ...terms },
      { scheme: "upto", amount: "9500", ...terms },
      { scheme: "batch-settlement", amount: "9500", ...terms }
    ]
    const price = { amount: "0.002000", currency: "USD" }
    assert.strictEqual(
      waysToPay({ price, accepts }),
      "exact 0.002 USD, upto at most 0.0095 USD, batch-settlement at most 0.0095 USD"
    )
  })

  it("is told in sentences that name the price, the prompt and the longest answer", () => {
    const [first = ""] = reasonsFor("0.0012", { input: 3, output: 15 }, 256)
    for (const part of ["0.0012", "3 USD", "256 tokens", "15 USD"]) assert.include(first, part)
    assert.deepStrictEqual(reasonsFor("0", { input: 0, output: 0 }, 256), ["The model is free."])
  })

  it("of tokens is what they cost, and of a flat price the price", () => {
    assert.strictEqual(usedUsd({ input: 3, output: 15 }, { inputTokens: 1_000, outputTokens: 2_000 }), 0.033)
    assert.strictEqual(usedUsd({ flat: 0.02 }, { inputTokens: 1, outputTokens: 1 }), 0.02)
  })
})

describe("the code to copy", () => {
  const call = { model: "demo/echo", prompt: "it's so", maxTokens: 9, chain: "evm" } as const
  const registered = (...given: Parameters<typeof callSnippets>) =>
    callSnippets(...given)
      .filter(({ title }) => title !== "curl")
      .map(({ code }) => [...code.matchAll(/\.register\("([^"]+)", new (\w+)/gu)].map(([, ...each]) => each.join(" ")))
  const evm = { exact: "eip155:* ExactEvmScheme", upto: "eip155:* UptoEvmScheme" }
  const channels = "eip155:* BatchSettlementEvmScheme"
  const way = (scheme: string, network = "eip155:8453") => ({ scheme, network })

  it("names the model in each language", () => {
    const snippets = callSnippets(call)
    assert.deepStrictEqual(
      snippets.map(({ title }) => title),
      ["curl", "openai", "anthropic", "x402"]
    )
    for (const { code } of snippets) assert.include(code, "demo/echo")
  })

  it.each([
    ["all of the chain before there is a quote", call, undefined, [evm.exact, evm.upto, channels]],
    ["those of the quote, in its order", call, [way("upto"), way("exact")], [evm.upto, evm.exact]],
    ["channels where they are offered", call, [way("exact"), way("batch-settlement")], [evm.exact, channels]],
    [
      "none that the client lacks, and none of another chain",
      call,
      [way("exact"), way("new"), way("upto", "solana:x")],
      [evm.exact]
    ],
    ["that of Solana", { ...call, chain: "solana" }, [way("exact", "solana:x")], ["solana:* ExactSvmScheme"]]
  ] as const)("pays by %s", (_, given, ways, expected) => {
    for (const each of registered(given, ways)) assert.deepStrictEqual(each, [...expected])
  })
})
