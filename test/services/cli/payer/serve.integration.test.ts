/** Programs that know no x402 buy at the gateway, on a chain of the test's own, through the payer. */
import { createServer, request as nodeRequest, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import Anthropic from "@anthropic-ai/sdk"
import { assert, describe, it } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Redacted, type Scope } from "effect"
import OpenAI from "openai"
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts"
import { HttpListener } from "#http"
import { CannotPay, openWallet, type Wallet } from "#payments"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { type Ledger, openLedger } from "../../../../services/cli/payer/Ledger.ts"
import type { PayerTerms } from "../../../../services/cli/payer/choose-offer.ts"
import { payerListener } from "../../../../services/cli/payer/serve.ts"
import { evmBalance } from "../../../support/paid-fleet.ts"
import { type PaymentFleet, type PaymentFleetOptions, withPayments } from "../../../support/payment-fleet.ts"

const token = "the-token-of-this-test"
const funds = 10_000_000n

interface Limits extends Partial<PayerTerms> {
  readonly perCall?: bigint
  readonly perHour?: bigint
  /** In place of the wallet's own. */
  readonly sign?: Wallet["sign"]
  /** In place of the fleet's gateway. */
  readonly gatewayUrl?: string
}

interface Paying {
  readonly url: string
  readonly ledger: Ledger
  /** The log of the calls that have ended. */
  readonly lines: ReadonlyArray<string>
  /** What the wallet has lost. */
  readonly spent: Effect.Effect<bigint>
  readonly openai: OpenAI
  readonly anthropic: Anthropic
}

const startPayer = Effect.fnUntraced(function* ({ chain, url: gatewayUrl }: PaymentFleet, limits: Limits = {}) {
  const privateKey = generatePrivateKey()
  const { address } = privateKeyToAccount(privateKey)
  yield* chain.fund(address, funds)
  const { perCall = funds, perHour = funds } = limits
  const lines: Array<string> = []
  const ledger = yield* openLedger(perHour, (line) => Effect.sync(() => void lines.push(line)))
  const own = yield* openWallet("evm", { key: Redacted.make(privateKey), rpcUrl: chain.rpcUrl })
  const wallet = { sign: limits.sign ?? own.sign }
  const terms: PayerTerms = {
    schemes: ["exact"],
    networks: undefined,
    isMainnet: false,
    hosts: ["127.0.0.1"],
    ...limits
  }
  const payer = { gatewayUrl: limits.gatewayUrl ?? gatewayUrl, port: 0, token, terms, perCall, wallet, ledger }
  const { url } = Context.get(yield* Layer.build(payerListener(payer)), HttpListener)
  const paying: Paying = {
    url,
    ledger,
    lines,
    spent: Effect.promise(async () => funds - (await evmBalance(chain.rpcUrl, chain.asset, address))),
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: token, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 })
  }
  return paying
})

const offeringUpto: PaymentFleetOptions["configure"] = ({ chain, configuration, environment }) => {
  const { Payments } = configuration as { readonly Payments: { readonly Networks: ReadonlyArray<object> } }
  const FacilitatorAddresses = chain.settlers.map(({ address }) => address)
  const Networks = Payments.Networks.map((entry) => ({ ...entry, Schemes: ["exact", "upto"], FacilitatorAddresses }))
  return { configuration: { ...configuration, Payments: { ...Payments, Networks } }, environment }
}

const chat = (content: string) => ({
  model: "demo/echo",
  max_tokens: 64,
  messages: [{ role: "user" as const, content }]
})

const withToken = { "content-type": "application/json", authorization: `Bearer ${token}` }

/** A call with any headers; `fetch` lets none set the host. */
const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = withToken) =>
  Effect.callback<{ readonly status: number; readonly error: { readonly code?: string; readonly message?: string } }>(
    (resume) => {
      const asked = nodeRequest(`${url}/v1/chat/completions`, { method: "POST", headers }, (response) => {
        const parts: Array<Buffer> = []
        response.on("data", (part: Buffer) => parts.push(part))
        response.once("end", () => {
          const { error } = JSON.parse(Buffer.concat(parts).toString("utf8")) as { readonly error?: object }
          resume(Effect.succeed({ status: response.statusCode ?? 0, error: error ?? {} }))
        })
      })
      asked.once("error", (error) => resume(Effect.die(error)))
      asked.end(JSON.stringify(body))
    }
  )

const quoteOf = ({ url }: Pick<PaymentFleet, "url">, body: unknown) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json" }
    const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) })
    const { accepts } = (await answer.json()) as { readonly accepts: ReadonlyArray<{ readonly amount: string }> }
    return { header: answer.headers.get("payment-required") ?? "", price: BigInt(accepts[0]?.amount ?? 0) }
  })

/** A gateway that answers as it is told to. */
const gatewayOf = (listener: RequestListener): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    ),
    (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  )

const textOf = async (stream: AsyncIterable<OpenAI.ChatCompletionChunk>) => {
  let text = ""
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ""
  return text
}

describe("through the payer", () => {
  it.live("OpenAI's and Anthropic's clients get paid answers, whole and streamed, and each call is accounted for", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { openai, anthropic, spent, ledger, lines } = yield* startPayer(fleet)
        const whole = yield* Effect.promise(() => openai.chat.completions.create(chat("one two three")))
        assert.strictEqual(whole.choices[0]?.message.content, "one two three")
        const streamed = yield* Effect.promise(async () =>
          textOf(await openai.chat.completions.create({ ...chat("four five six"), stream: true }))
        )
        assert.strictEqual(streamed, "four five six")
        const message = yield* Effect.promise(() => anthropic.messages.create(chat("seven eight")))
        assert.deepInclude(message.content[0], { type: "text", text: "seven eight" })
        const final = yield* Effect.promise(() => anthropic.messages.stream(chat("nine ten")).finalText())
        assert.strictEqual(final, "nine ten")
        const answer = yield* Effect.promise(() =>
          openai.responses.create({ model: "demo/echo", input: "eleven", max_output_tokens: 64 })
        )
        assert.strictEqual(answer.output_text, "eleven")
        const models = yield* Effect.promise(() => openai.models.list())
        assert.include(
          models.data.map(({ id }) => id),
          "demo/echo"
        )

        yield* eventually(() => lines.length, { is: 6 })
        assert.strictEqual((yield* fleet.transfers).length, 5)
        assert.strictEqual(funds - (yield* ledger.left), yield* spent)
        const paid = lines.filter((line) => /^\S+ \/v1\/\S+ demo\/echo · price (\S+) · charged \1 · 200 · /u.test(line))
        assert.strictEqual(paid.length, 5, lines.join("\n"))
        assert.match(lines[5] ?? "", /^\S+ \/v1\/models +· 200 · \S+ USD left of the hour$/u)
      })
    )
  )

  it.live("what upto does not use goes back to the budget", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const { openai, anthropic, spent, ledger, lines } = yield* startPayer(fleet, { schemes: ["upto"] })
          const body = { ...chat("one two three"), max_tokens: 4_096 }
          const whole = yield* Effect.promise(() => openai.chat.completions.create(body))
          assert.strictEqual(whole.choices[0]?.message.content, "one two three")
          yield* Effect.promise(() => anthropic.messages.stream(body).done())
          yield* eventually(() => lines.length, { is: 2 })
          const lost = yield* spent
          assert.isAbove(Number(lost), 0)
          assert.strictEqual(funds - (yield* ledger.left), lost)
          for (const line of lines) {
            const [, price, charged] = / price (\S+) · charged (\S+) · 200 /u.exec(line) ?? []
            assert.isAbove(Number(price), Number(charged), line)
          }
        }),
      // Each quote names the one settler, which has its key by then.
      { configure: offeringUpto, chain: { settlerCount: 1 }, payments: { SettleWaitSeconds: 60 } }
    )
  )

  it.live("nothing is signed above the price of a call, nor beyond the hour's budget", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { price } = yield* quoteOf(fleet, chat("one"))
        const strict = yield* startPayer(fleet, { perCall: price - 1n })
        const dear = yield* post(strict.url, chat("one"))
        assert.deepInclude(dear, { status: 402 })
        assert.strictEqual(dear.error.code, "price_above_limit")
        assert.match(dear.error.message ?? "", /USD, more than the \S+ of --per-call; nothing was signed$/u)
        yield* eventually(() => strict.lines.length, { is: 1 })
        assert.include(strict.lines[0], ` · 402 ${dear.error.message} · `)

        const short = yield* startPayer(fleet, { perHour: price })
        const first = yield* Effect.promise(() => short.openai.chat.completions.create(chat("one")))
        assert.strictEqual(first.choices[0]?.message.content, "one")
        const byOpenai = yield* Effect.promise(() => short.openai.chat.completions.create(chat("one")).catch(String))
        assert.match(
          String(byOpenai),
          /402 the price of this call is \S+ USD, and of --per-hour 0\.000000 USD are left/u
        )
        const byAnthropic = yield* Effect.promise(() => short.anthropic.messages.create(chat("one")).catch(String))
        assert.include(String(byAnthropic), "billing_error")
        assert.include(String(byAnthropic), "of --per-hour 0.000000 USD are left for this hour; nothing was signed")
        assert.strictEqual((yield* fleet.transfers).length, 1)
        assert.strictEqual(fleet.upstream.calls.length, 1)
      })
    )
  )

  it.live("calls at once never sign for more than the budget", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { price } = yield* quoteOf(fleet, chat("one"))
        const { url, spent } = yield* startPayer(fleet, { perHour: 3n * price })
        const answers = yield* Effect.forEach(Array.from({ length: 8 }), () => post(url, chat("one")), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [200, 200, 200, 402, 402, 402, 402, 402])
        assert.strictEqual(yield* spent, 3n * price)
      })
    )
  )

  it.live("strangers get nothing: without the token, by another name, from a page", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { url, lines } = yield* startPayer(fleet)
        const refused = (changes: Readonly<Record<string, string>>) =>
          Effect.map(post(url, chat("one"), { ...withToken, ...changes }), ({ status }) => status)
        assert.strictEqual(yield* refused({ authorization: "Bearer wrong" }), 401)
        assert.strictEqual(yield* refused({ host: "models.example.com" }), 403)
        assert.strictEqual(yield* refused({ origin: "https://models.example.com" }), 403)
        assert.deepStrictEqual([lines, fleet.upstream.calls], [[], []])
      })
    )
  )

  it.live("a call that the gateway fails costs nothing of the budget", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { url, ledger, spent, lines } = yield* startPayer(fleet)
        const { status } = yield* post(url, chat("!status 500"))
        assert.isAtLeast(status, 500)
        assert.deepStrictEqual([yield* ledger.left, yield* spent], [funds, 0n])
        yield* eventually(() => lines.length, { is: 1 })
        assert.match(lines[0] ?? "", / · charged 0\.000000 · 5\d\d · /u)
      })
    )
  )

  it.live("what is not signed after all costs nothing of the budget", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const failing = yield* startPayer(fleet, {
          sign: () => new CannotPay({ what: "chain", reason: "the chain is away" })
        })
        const { status, error } = yield* post(failing.url, chat("one"))
        assert.deepStrictEqual([status, error.message], [402, "the chain is away; nothing was signed"])
        assert.strictEqual(yield* failing.ledger.left, funds)

        const signing = yield* Deferred.make<void>()
        const hanging = yield* startPayer(fleet, {
          sign: () => Effect.andThen(Deferred.succeed(signing, undefined), Effect.never)
        })
        const leave = yield* Effect.sync(() => {
          const leaving = new AbortController()
          const init = { method: "POST", headers: withToken, body: JSON.stringify(chat("one")), signal: leaving.signal }
          void fetch(`${hanging.url}/v1/chat/completions`, init).catch(() => undefined)
          return () => leaving.abort()
        })
        yield* Deferred.await(signing)
        assert.isBelow(Number(yield* hanging.ledger.left), Number(funds))
        leave()
        yield* eventually(() => hanging.lines.length, { is: 1 })
        assert.strictEqual(yield* hanging.ledger.left, funds)
      })
    )
  )

  it.live("a gateway that is away is named in a 502", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { url, ledger } = yield* startPayer(fleet, { gatewayUrl: "http://127.0.0.1:9" })
        const { status, error } = yield* post(url, chat("one"))
        assert.deepStrictEqual([status, error.code], [502, "gateway_away"])
        assert.include(error.message, "the gateway at http://127.0.0.1:9 does not answer: connect")
        assert.strictEqual(yield* ledger.left, funds)
      })
    )
  )

  it.live("what was signed counts when the gateway breaks off, or another answers in its place", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { header, price } = yield* quoteOf(fleet, chat("one"))
        const gatewayUrl = yield* gatewayOf((request, response) => {
          if (request.headers["payment-signature"] === undefined) {
            return void response.writeHead(402, { "payment-required": header }).end()
          }
          return request.url === "/v1/chat/completions?cut"
            ? void request.socket.destroy()
            : void response.writeHead(504, { "content-type": "application/json" }).end("{}")
        })
        const { url, ledger, lines } = yield* startPayer(fleet, { gatewayUrl })
        const cut = yield* Effect.promise(() =>
          fetch(`${url}/v1/chat/completions?cut`, { method: "POST", headers: withToken, body: "{}" })
        )
        assert.deepStrictEqual([cut.status, cut.headers.get("x-should-retry")], [502, "false"])
        assert.include(yield* Effect.promise(() => cut.text()), "the payment was signed")
        assert.strictEqual(yield* ledger.left, funds - price)
        assert.strictEqual((yield* post(url, chat("one"))).status, 504)
        assert.strictEqual(yield* ledger.left, funds - 2n * price)
        yield* eventually(() => lines.length, { is: 2 })
        for (const line of lines) assert.include(line, " · charge unknown · ")
      })
    )
  )

  it.live("the receipt is read for a caller that leaves with the last event", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const { header, price } = yield* quoteOf(fleet, chat("one"))
        const answering = yield* Deferred.make<ServerResponse>()
        const gatewayUrl = yield* gatewayOf((request, response) => {
          if (request.method === "GET") return void response.writeHead(200).end("{}")
          if (request.headers["payment-signature"] === undefined) {
            return void response.writeHead(402, { "payment-required": header }).end()
          }
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write("event: response.completed\ndata: {}\n\n")
          Deferred.doneUnsafe(answering, Effect.succeed(response))
        })
        const { url, ledger, lines } = yield* startPayer(fleet, { gatewayUrl, schemes: ["exact"] })
        yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const { signal } = leaving
          const answer = await fetch(`${url}/v1/responses`, { method: "POST", headers: withToken, body: "{}", signal })
          await answer.body?.getReader().read()
          leaving.abort()
          // By its answer the payer has seen the caller leave.
          await (await fetch(`${url}/v1/models`, { headers: withToken })).text()
        })
        yield* eventually(() => lines.length, { is: 1 })
        const receipt = { success: true, transaction: "0xab", network: fleet.chain.network }
        const comment = `: payment-response ${Buffer.from(JSON.stringify(receipt)).toString("base64")}\n\n`
        const response = yield* Deferred.await(answering)
        response.end(comment)
        yield* eventually(() => lines.length, { is: 2 })
        assert.include(lines[1], ` · charged 0.${String(price).padStart(6, "0")} · 200 · `)
        assert.strictEqual(yield* ledger.left, funds - price)
      })
    )
  )

  it.live("pieces pass as they come, headers stay behind, and the gateway hears when the caller leaves", () =>
    withPayments((fleet) =>
      Effect.gen(function* () {
        const [left, seen] = [yield* Deferred.make<void>(), yield* Deferred.make<NodeJS.Dict<unknown>>()]
        const gatewayUrl = yield* gatewayOf((request, response) => {
          Deferred.doneUnsafe(seen, Effect.succeed(request.headers))
          response.once("close", () => Deferred.doneUnsafe(left, Effect.void))
          response.writeHead(200, { "content-type": "text/event-stream", "set-cookie": "a=b", "x-kept": "yes" })
          response.write("data: first\n\n")
        })
        const { url } = yield* startPayer(fleet, { gatewayUrl })
        const leave = yield* Effect.promise(async () => {
          const leaving = new AbortController()
          const headers = {
            ...withToken,
            "x-api-key": "k",
            "payment-signature": "mine",
            cookie: "c=d",
            "x-mine": "yes"
          }
          const { signal } = leaving
          const answer = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: "{}", signal })
          assert.deepStrictEqual([answer.headers.get("set-cookie"), answer.headers.get("x-kept")], [null, "yes"])
          const first = await answer.body?.getReader().read()
          assert.strictEqual(Buffer.from(first?.value ?? []).toString(), "data: first\n\n")
          return () => leaving.abort()
        })
        const headers = yield* Deferred.await(seen)
        assert.deepInclude(headers, { "x-mine": "yes", "content-type": "application/json" })
        for (const name of ["authorization", "x-api-key", "payment-signature", "cookie"]) {
          assert.notProperty(headers, name)
        }
        leave()
        yield* Deferred.await(left)
      })
    )
  )
})
