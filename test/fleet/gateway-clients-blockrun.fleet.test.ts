import { AnthropicClient, APIError, LLMClient, OpenAI, PaymentError, SolanaLLMClient } from "@blockrun/llm"
import { generatePrivateKey } from "viem/accounts"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type PaidFleet, startPaidFleet } from "../support/paid-fleet.ts"
import type { Exchange } from "../support/wire.ts"

let paid: PaidFleet

beforeAll(async () => {
  paid = await startPaidFleet()
})
afterAll(() => paid.stop())

const llm = (privateKey: string = paid.evm.privateKey) => new LLMClient({ privateKey, apiUrl: `${paid.url}/api` })
const messages = (content: string) => [{ role: "user" as const, content }]

/** The wire traffic meanwhile, and the payer's loss. */
const during = async <A>(call: () => Promise<A>, balance: () => Promise<bigint> = paid.evm.balance) => {
  const before = await balance()
  const from = paid.wire.exchanges.length
  const result = await call()
  // The client's reads, such as the list of models, are not part of the call.
  const exchanges = paid.wire.exchanges.slice(from).filter(({ method }) => method === "POST")
  return { result, exchanges, spent: before - (await balance()) }
}
const statusesOf = (exchanges: ReadonlyArray<Exchange>) => exchanges.map(({ status }) => status)

interface Chunk {
  readonly choices: ReadonlyArray<{ readonly delta: { readonly content?: string } }>
}

const refusal = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("it was answered"),
    (error: unknown) => error
  )

const textOf = (stream: string) =>
  stream
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map(
      (line) => (JSON.parse(line.slice(6)) as { choices: [{ delta: { content?: string } }] }).choices[0]?.delta.content
    )
    .join("")

describe("@blockrun/llm's LLMClient", () => {
  it("chats: gets the price, pays and gets the answer", async () => {
    const { result, exchanges, spent } = await during(() => llm().chat("demo/echo", "one two three"))
    assert.strictEqual(result, "one two three")
    assert.deepStrictEqual(statusesOf(exchanges), [402, 200])
    assert.isAbove(Number(spent), 1_000)
  })

  it("streams, and pays the second call to a model at once, at the price of the first", async () => {
    const client = llm()
    const first = await during(async () =>
      (await client.chatCompletionStream("demo/echo", messages("one two three"))).text()
    )
    assert.strictEqual(textOf(first.result), "one two three")
    assert.deepStrictEqual(statusesOf(first.exchanges), [402, 200])
    const second = await during(async () =>
      (await client.chatCompletionStream("demo/echo", messages("one two four."))).text()
    )
    assert.strictEqual(textOf(second.result), "one two four.")
    assert.deepStrictEqual(statusesOf(second.exchanges), [200])
    assert.strictEqual(second.spent, first.spent)
  })

  it("gets a new quote for an outdated price, falls back, and pays the new price once", async () => {
    const client = llm()
    await (await client.chatCompletionStream("demo/echo", messages("short"))).text()
    const longer = "a much longer prompt ".repeat(500).trim()
    const { result, exchanges, spent } = await during(async () =>
      (await client.chatCompletionStream("demo/echo", messages(longer))).text()
    )
    assert.include(longer, textOf(result))
    assert.isAbove(textOf(result).length, 100)
    assert.deepStrictEqual(statusesOf(exchanges), [402, 402, 200])
    const [stale, , paying] = exchanges
    assert.isDefined(stale?.headers["payment-required"])
    assert.notStrictEqual(stale?.payment, paying?.payment)
    const accepted = JSON.parse(Buffer.from(paying?.payment ?? "", "base64").toString()) as {
      accepted: { amount: string }
    }
    assert.strictEqual(spent, BigInt(accepted.accepted.amount))
  })

  it("sends the very same payment again after a 503, and it is accepted", async () => {
    paid.failNext(1)
    const { result, exchanges, spent } = await during(() => llm().chat("demo/flaky", "once more"))
    assert.strictEqual(result, "once more")
    assert.deepStrictEqual(statusesOf(exchanges), [402, 503, 200])
    assert.strictEqual(exchanges[1]?.payment, exchanges[2]?.payment)
    assert.isAbove(Number(spent), 0)
  })

  it("pays nothing when the model does not answer, and raises an API error with status and response", async () => {
    paid.failNext(10)
    const { result, spent } = await during(() => refusal(llm().chat("demo/flaky", "never")))
    paid.failNext(0)
    assert.instanceOf(result, APIError)
    assert.strictEqual((result as APIError).statusCode, 503)
    assert.isDefined((result as APIError).response)
    assert.strictEqual(spent, 0n)
  })

  it("raises a payment error with an empty wallet", async () => {
    const error = await refusal(llm(generatePrivateKey()).chat("demo/echo", "for nothing"))
    assert.instanceOf(error, PaymentError)
    const last = paid.wire.exchanges.at(-1)
    assert.strictEqual(last?.status, 402)
    assert.isDefined(last?.headers["payment-required"])
  })

  it("raises an API error with status and response for a wrong request and for an unknown model", async () => {
    for (const asked of [llm().chatCompletion("demo/echo", []), llm().chat("no/such", "x")]) {
      const error = await refusal(asked)
      assert.instanceOf(error, APIError)
      assert.strictEqual((error as APIError).statusCode, 400)
      assert.isDefined((error as APIError).response)
    }
  })

  it("reads the list of models with its prices", async () => {
    const models = await llm().listModels()
    assert.includeMembers(
      models.map(({ id }) => id),
      ["demo/echo", "demo/nostream"]
    )
  })
})

describe("@blockrun/llm's other clients", () => {
  it("OpenAI: chats, streamed and not", async () => {
    const client = new OpenAI({ privateKey: paid.evm.privateKey, baseURL: `${paid.url}/api` })
    const { spent } = await during(async () => {
      const whole = await client.chat.completions.create({ model: "demo/echo", messages: messages("one two") })
      assert.strictEqual(whole.choices[0]?.message.content, "one two")
      const asked = { model: "demo/echo", messages: messages("one two"), stream: true as const }
      // Of the client's two overloads the first one always fits.
      const stream = (await client.chat.completions.create(asked)) as unknown as AsyncIterable<Chunk>
      let text = ""
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? ""
      assert.strictEqual(text, "one two")
    })
    assert.isAbove(Number(spent), 0)
  })

  it("AnthropicClient: gets messages, streamed and not", async () => {
    const client = new AnthropicClient({ privateKey: paid.evm.privateKey, apiUrl: `${paid.url}/api` })
    const asked = { model: "demo/echo", max_tokens: 50, messages: messages("one two") }
    const { exchanges, spent } = await during(async () => {
      const whole = await client.messages.create(asked)
      assert.strictEqual(whole.content[0]?.type === "text" ? whole.content[0].text : "", "one two")
      const streamed = await client.messages.create({ ...asked, stream: true })
      const kinds: Array<string> = []
      for await (const event of streamed) kinds.push(event.type)
      assert.strictEqual(kinds.at(-1), "message_stop")
    })
    assert.deepStrictEqual(statusesOf(exchanges), [402, 200, 402, 200])
    assert.isAbove(Number(spent), 0)
  })

  it("SolanaLLMClient: chats under the base path of its chain", async () => {
    const client = new SolanaLLMClient({
      privateKey: paid.solana.secretKey,
      apiUrl: `${paid.url}/solana/api`,
      rpcUrl: paid.solana.rpc
    })
    const { result, exchanges, spent } = await during(
      () => client.chat("demo/echo", "under the sun"),
      paid.solana.balance
    )
    assert.strictEqual(result, "under the sun")
    assert.deepStrictEqual(statusesOf(exchanges), [402, 200])
    assert.isAbove(Number(spent), 0)
  })
})
