import { randomBytes } from "node:crypto"
import { AnthropicClient, APIError, LLMClient, OpenAI, PaymentError, SolanaLLMClient } from "@blockrun/llm"
import { createKeyPairSignerFromBytes, getBase58Encoder } from "@solana/kit"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { ExactSvmScheme } from "@x402/svm/exact/client"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { generatePrivateKey } from "viem/accounts"
import type { PaymentRequirements } from "#payments/contract"
import { readSvmKey, signTransfer } from "#payments"
import { until } from "../../dev/fixtures/eventually.ts"
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

const priceOf = async (body: unknown, path = "/api/v1/chat/completions") => {
  const answer = (await (await post(fetch, path, body)).json()) as { accepts: ReadonlyArray<{ amount: string }> }
  return BigInt(answer.accepts[0]?.amount ?? "0")
}

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

describe("@x402/fetch with @x402/svm", () => {
  it("pays under the base path of its chain", async () => {
    const pay = await solanaFetch()
    const path = "/solana/api/v1/chat/completions"
    const price = await priceOf(bodyOf("in the sun"), path)
    const { result, spent } = await during(() => post(pay, path, bodyOf("in the sun")), paid.solana.balance)
    assert.strictEqual(result.status, 200)
    const answer = (await result.json()) as {
      readonly choices: ReadonlyArray<{ readonly message: { readonly content: string } }>
    }
    assert.strictEqual(answer.choices[0]?.message.content, "in the sun")
    assert.strictEqual(spent, price)
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

describe("the quote", () => {
  const headerOf = (response: Response, name = "payment-required") =>
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
    const header = headerOf(response)
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

interface Payment {
  readonly payload: { readonly transaction: string }
}

const decoded = (header: string) => JSON.parse(Buffer.from(header, "base64").toString("utf8")) as Payment
const withWire = (header: string, change: (wire: Buffer) => void) => {
  const payment = decoded(header)
  const wire = Buffer.from(payment.payload.transaction, "base64")
  change(wire)
  return Buffer.from(JSON.stringify({ ...payment, payload: { transaction: wire.toString("base64") } })).toString(
    "base64"
  )
}
const send = async (payment: string) => {
  const response = await fetch(`${paid.url}/solana/api/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", "payment-signature": payment },
    // As the client asked: the price is the same.
    body: JSON.stringify({
      model: "demo/echo",
      messages: [{ role: "user", content: "under the sun" }],
      max_tokens: 1024
    })
  })
  return { status: response.status, body: (await response.json()) as Readonly<Record<string, unknown>> }
}

interface Quote {
  readonly accepts: ReadonlyArray<PaymentRequirements>
}

/** Payments of the fleet's own payer for the same call, which differ by their memos. */
const signedMany = async (body: unknown, count: number) => {
  const url = `${paid.url}/solana/api/v1/chat/completions`
  const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }
  const unpaid = (await (await fetch(url, post)).json()) as Quote
  const [accepted] = unpaid.accepts
  const latest = (await (
    await fetch(paid.solana.rpc, {
      ...post,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "getLatestBlockhash", params: [] })
    })
  ).json()) as { readonly result: { readonly value: { readonly blockhash: string } } }
  if (accepted === undefined) throw new Error("no quote")
  const key = Result.getOrThrow(readSvmKey(accepted.network, paid.solana.secretKey))
  return Array.from({ length: count }, (_, index) => {
    const signed = signTransfer({
      requirements: accepted,
      seed: Redacted.value(key.secret),
      blockhash: latest.result.value.blockhash,
      decimals: 6,
      memo: `payment ${index}`
    })
    const payload = { x402Version: 2, accepted, payload: { ...Result.getOrThrow(signed) } }
    return Buffer.from(JSON.stringify(payload)).toString("base64")
  })
}

describe("many calls of one Solana wallet at once", () => {
  it("are all answered, streams and whole answers, while the wallet holds enough for all", async () => {
    const before = await paid.solana.balance()
    const body = (stream: boolean) => ({
      model: "demo/echo",
      messages: [{ role: "user", content: "!words 10 50" }],
      max_tokens: 1024,
      stream
    })
    const payments = await signedMany(body(true), 10)
    const answers = await Promise.all(
      payments.map(async (payment, index) => {
        const response = await fetch(`${paid.url}/solana/api/v1/chat/completions`, {
          method: "POST",
          headers: { "content-type": "application/json", "payment-signature": payment },
          body: JSON.stringify(body(index % 2 === 0))
        })
        return { status: response.status, text: await response.text() }
      })
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      Array.from({ length: 10 }, () => 200),
      answers.map(({ text }) => text.slice(-200)).join("\n")
    )
    await until(async () => Number(await paid.solana.balance()) < Number(before))
  })
})

describe("attack 2 on Solana: one transaction in another encoding", () => {
  it("is the same payment, whatever the fee payer's signature slot contains", async () => {
    const { rpc, secretKey } = paid.solana
    const client = new SolanaLLMClient({ privateKey: secretKey, apiUrl: `${paid.url}/solana/api`, rpcUrl: rpc })
    assert.strictEqual(await client.chat("demo/echo", "under the sun"), "under the sun")
    const payment = paid.wire.exchanges.at(-1)?.payment ?? ""
    const after = await paid.solana.balance()
    const feePayersSlot = 1
    const spellings = [
      payment,
      withWire(payment, (wire) => void randomBytes(64).copy(wire, feePayersSlot)),
      withWire(payment, (wire) => void wire.fill(0xff, feePayersSlot, feePayersSlot + 64)),
      Buffer.from(JSON.stringify(decoded(payment), undefined, 2)).toString("base64")
    ]
    for (const spelled of spellings) {
      const { status, body } = await send(spelled)
      assert.deepStrictEqual([status, body["code"]], [402, "PAYMENT_REPLAY"])
    }
    assert.strictEqual(await paid.solana.balance(), after)
  })

  it("is not a payment when any signed byte is changed", async () => {
    const paidBySun = paid.wire.exchanges.filter(({ path, status }) => path.startsWith("/solana/") && status === 200)
    const payment = paidBySun[0]?.payment ?? ""
    const before = await paid.solana.balance()
    const messageAt = 1 + 2 * 64
    for (const at of [messageAt + 40, messageAt + 200, 1 + 64 + 3]) {
      const forged = withWire(payment, (wire) => void wire.writeUInt8((wire[at] ?? 0) ^ 1, at))
      const { status, body } = await send(forged)
      assert.deepStrictEqual([status, body["code"]], [402, "PAYMENT_INVALID"])
    }
    assert.strictEqual(await paid.solana.balance(), before)
  })
})
