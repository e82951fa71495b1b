import Anthropic from "@anthropic-ai/sdk"
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { wrapAxiosWithPayment } from "@x402/axios"
import { ExactSvmScheme } from "@x402/svm/exact/client"
import { create } from "axios"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import OpenAI, { APIError } from "openai"
import { privateKeyToAccount } from "viem/accounts"
import { type PaidFleet, startPaidFleet } from "../support/paid-fleet.ts"

let paid: PaidFleet

beforeAll(async () => {
  paid = await startPaidFleet()
})
afterAll(() => paid.stop())

const evmClient = () => {
  const client = new x402Client()
  client.register("eip155:*", new ExactEvmScheme(privateKeyToAccount(paid.evm.privateKey)))
  return client
}
const payingFetch = () => wrapFetchWithPayment(fetch, evmClient()) as typeof fetch

const solanaFetch = async () => {
  const signer = await createKeyPairSignerFromBytes(getBase58Encoder().encode(paid.solana.secretKey) as Uint8Array)
  const client = new x402Client()
  client.register("solana:*", new ExactSvmScheme(signer as never, { rpcUrl: paid.solana.rpc }))
  return wrapFetchWithPayment(fetch, client) as typeof fetch
}

const bodyOf = (content: string, more: Readonly<Record<string, unknown>> = {}) => ({
  model: "demo/echo",
  messages: [{ role: "user", content }],
  ...more
})
const json = { "content-type": "application/json" }
const post = (pay: typeof fetch, path: string, body: unknown) =>
  pay(`${paid.url}${path}`, { method: "POST", headers: json, body: JSON.stringify(body) })

/** A call's exchanges on the wire, and the payer's loss. */
const during = async <A>(
  call: () => Promise<A>,
  balance: () => Promise<bigint> = paid.evm.balance
): Promise<{ readonly result: A; readonly statuses: ReadonlyArray<number>; readonly spent: bigint }> => {
  const before = await balance()
  const from = paid.wire.exchanges.length
  const result = await call()
  const statuses = paid.wire.exchanges.slice(from).map(({ status }) => status)
  return { result, statuses, spent: before - (await balance()) }
}
const priceOf = async (body: unknown, path = "/api/v1/chat/completions") => {
  const answer = (await (await post(fetch, path, body)).json()) as { accepts: ReadonlyArray<{ amount: string }> }
  return BigInt(answer.accepts[0]?.amount ?? "0")
}

describe("@x402/fetch and @x402/axios", () => {
  it("pay once and get the whole answer with its receipt", async () => {
    const body = bodyOf("one two three")
    const price = await priceOf(body)
    const { result, statuses, spent } = await during(() => post(payingFetch(), "/api/v1/chat/completions", body))
    const answer = (await result.json()) as OpenAI.ChatCompletion
    assert.strictEqual(answer.choices[0]?.message.content, "one two three")
    assert.deepStrictEqual([statuses, spent], [[402, 200], price])
    const receipt = decodePaymentResponseHeader(result.headers.get("payment-response") ?? "")
    assert.isTrue(receipt.success)
    assert.strictEqual(result.headers.get("x-payment-receipt"), receipt.transaction)
    assert.strictEqual(result.headers.get("cache-control"), "private")
  })

  it("pay for a stream, and get the receipt before its end", async () => {
    const body = bodyOf("one two three", { stream: true })
    const price = await priceOf(body)
    const { result, statuses, spent } = await during(async () =>
      (await post(payingFetch(), "/v1/chat/completions", body)).text()
    )
    assert.deepStrictEqual([statuses, spent], [[402, 200], price])
    const [receipt, done] = result.trimEnd().split("\n\n").slice(-2)
    assert.match(receipt ?? "", /^: ?payment-response [A-Za-z0-9+/=]+$/u)
    assert.strictEqual(done, "data: [DONE]")
  })

  it("pay with axios", async () => {
    const client = wrapAxiosWithPayment(create(), evmClient() as never)
    const { result, statuses, spent } = await during(() =>
      client.post(`${paid.url}/api/v1/chat/completions`, bodyOf("by axios"))
    )
    const answer = result.data as OpenAI.ChatCompletion
    assert.strictEqual(answer.choices[0]?.message.content, "by axios")
    assert.deepStrictEqual(statuses, [402, 200])
    assert.isAbove(Number(spent), 0)
  })

  it("pay on Solana under its base path", async () => {
    const pay = await solanaFetch()
    const path = "/solana/api/v1/chat/completions"
    const price = await priceOf(bodyOf("in the sun"), path)
    const { result, spent } = await during(() => post(pay, path, bodyOf("in the sun")), paid.solana.balance)
    assert.strictEqual(result.status, 200)
    const answer = (await result.json()) as OpenAI.ChatCompletion
    assert.strictEqual(answer.choices[0]?.message.content, "in the sun")
    assert.strictEqual(spent, price)
  })

  it("pay nothing for a free model, and nothing for a refused call", async () => {
    const free = await during(() => post(payingFetch(), "/v1/chat/completions", bodyOf("x", { model: "demo/free" })))
    assert.deepStrictEqual([free.result.status, free.statuses, free.spent], [200, [200], 0n])
    const wrong = await during(() => post(payingFetch(), "/v1/chat/completions", bodyOf("x", { messages: [] })))
    assert.deepStrictEqual([wrong.result.status, wrong.statuses, wrong.spent], [400, [400], 0n])
    const failed = await during(() => post(payingFetch(), "/v1/chat/completions", bodyOf("!status 500")))
    assert.isAtLeast(failed.result.status, 500)
    assert.deepStrictEqual([failed.statuses.at(0), failed.spent], [402, 0n])
  })
})

describe("the quote", () => {
  const decoded = (response: Response, name = "payment-required") =>
    Buffer.from(response.headers.get(name) ?? "", "base64").toString("utf8")
  /** The text of a key's value, cut out of the JSON as it was written. */
  const rawOf = (text: string, key: string) => {
    const value = JSON.stringify((JSON.parse(text) as Record<string, unknown>)[key])
    assert.include(text, `"${key}":${value}`)
    return value
  }

  it.each([
    ["/api/v1/chat/completions", bodyOf("hi")],
    ["/v1/messages", bodyOf("hi", { max_tokens: 10 })],
    ["/v1/responses", { model: "demo/echo", input: "hi" }],
    ["/solana/api/v1/chat/completions", bodyOf("hi")]
  ])("of %s is the same text, byte for byte, in the body and in the header", async (path, body) => {
    const response = await post(fetch, path, body)
    const text = await response.text()
    assert.strictEqual(response.status, 402)
    const header = decoded(response)
    for (const key of ["x402Version", "accepts"]) assert.strictEqual(rawOf(text, key), rawOf(header, key))
    const challenge = /^X402 requirements="([A-Za-z0-9+/=]+)"$/u.exec(response.headers.get("www-authenticate") ?? "")
    assert.strictEqual(challenge?.[1], response.headers.get("x-payment-required"))
    // The names that older clients read have exact alone.
    const older = Buffer.from(response.headers.get("x-payment-required") ?? "", "base64").toString("utf8")
    const all = (JSON.parse(header) as { accepts: ReadonlyArray<{ scheme: string }> }).accepts
    assert.deepStrictEqual(
      (JSON.parse(older) as { accepts: unknown }).accepts,
      all.filter(({ scheme }) => scheme === "exact")
    )
    assert.strictEqual(response.headers.get("cache-control"), "no-store")
    const { price, accepts } = JSON.parse(text) as { price: { amount: string }; accepts: [{ amount: string }] }
    assert.strictEqual(Math.round(Number(price.amount) * 1e6), Number(accepts[0].amount))
  })
})

describe("openai with a fetch that pays", () => {
  const client = (pay: typeof fetch = payingFetch()) =>
    new OpenAI({ baseURL: `${paid.url}/api/v1`, apiKey: "none", maxRetries: 0, fetch: pay })

  it("chats, streamed and not, and gets responses", async () => {
    const messages = [{ role: "user" as const, content: "one two three" }]
    const { statuses, spent } = await during(async () => {
      const whole = await client().chat.completions.create({ model: "demo/echo", messages })
      assert.strictEqual(whole.choices[0]?.message.content, "one two three")
      let text = ""
      for await (const chunk of await client().chat.completions.create({
        model: "demo/echo",
        messages,
        stream: true
      })) {
        text += chunk.choices[0]?.delta.content ?? ""
      }
      assert.strictEqual(text, "one two three")
      const response = await client().responses.create({ model: "demo/echo", input: "one two three" })
      assert.strictEqual(response.output_text, "one two three")
      const kinds: Array<string> = []
      for await (const event of await client().responses.create({ model: "demo/echo", input: "one", stream: true })) {
        kinds.push(event.type)
      }
      assert.strictEqual(kinds.at(-1), "response.completed")
    })
    assert.deepStrictEqual(statuses, [402, 200, 402, 200, 402, 200, 402, 200])
    assert.isAbove(Number(spent), 0)
  })

  it("raises an API error with status and code for a failure other than payment", async () => {
    const failed = client().chat.completions.create({ model: "demo/echo", messages: [] })
    const error = await failed.then(
      () => assert.fail("it was answered"),
      (reason: unknown) => reason as APIError
    )
    assert.instanceOf(error, APIError)
    assert.deepStrictEqual([error.status, error.code], [400, "EMPTY_CONVERSATION"])
  })

  it("gets 402 without a way to pay", async () => {
    const messages = [{ role: "user" as const, content: "hi" }]
    const error = await client(fetch)
      .chat.completions.create({ model: "demo/echo", messages })
      .then(
        () => assert.fail("it was answered"),
        (reason: unknown) => reason as APIError
      )
    assert.strictEqual(error.status, 402)
    assert.isNotNull(error.headers?.get("payment-required"))
  })
})

describe("@anthropic-ai/sdk with a fetch that pays", () => {
  const client = (pay: typeof fetch = payingFetch()) =>
    new Anthropic({ baseURL: `${paid.url}/api`, apiKey: "none", maxRetries: 0, fetch: pay })
  const asked = { model: "demo/echo", max_tokens: 100, messages: [{ role: "user" as const, content: "one two" }] }

  it("gets messages, streamed and not", async () => {
    const { statuses, spent } = await during(async () => {
      const whole = await client().messages.create(asked)
      assert.deepStrictEqual(
        whole.content.map((block) => (block.type === "text" ? block.text : "")),
        ["one two"]
      )
      const streamed = await client().messages.stream(asked).finalMessage()
      assert.strictEqual(streamed.stop_reason, "end_turn")
    })
    assert.deepStrictEqual(statuses, [402, 200, 402, 200])
    assert.isAbove(Number(spent), 0)
  })

  it("raises its error for 402 without a way to pay, with the type of the API", async () => {
    const error = await client(fetch)
      .messages.create(asked)
      .then(
        () => assert.fail("it was answered"),
        (reason: unknown) => reason as InstanceType<typeof Anthropic.APIError>
      )
    assert.strictEqual(error.status, 402)
    assert.strictEqual((error.error as { type: string }).type, "error")
  })
})
