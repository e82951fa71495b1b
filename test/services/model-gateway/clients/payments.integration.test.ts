/**
 * The protocol's own clients, unmodified: each way to pay, with fetch and with axios, for each route, whole and
 * streamed. What a payer is charged is what its wallet or its channel has lost, and what its receipts say, one for each
 * call.
 */
import type { Readable } from "node:stream"
import { wrapAxiosWithPayment } from "@x402/axios"
import { BatchSettlementEvmScheme } from "@x402/evm/batch-settlement/client"
import { ExactEvmScheme } from "@x402/evm/exact/client"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { create } from "axios"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import OpenAI from "openai"
import { createPublicClient, http } from "viem"
import { baseSepolia } from "viem/chains"
import { isSameAddress } from "#payments/contract"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import { newPayer } from "../../../../dev/fixtures/evm/payments.ts"
import { type ChannelFleet, withChannels } from "../../../support/channel-fleet.ts"
import { evmBalance } from "../../../support/paid-fleet.ts"
import type { Parts } from "../../../support/payment-fleet.ts"

type Payer = ReturnType<typeof newPayer>
type Json = Readonly<Record<string, unknown>>

/** All three ways to pay, in the order in which `up` offers them. */
const offeringUpto = ({ chain, configuration, environment }: Parts) => {
  const { Payments, ModelGateway } = configuration as {
    readonly Payments: { readonly Networks: ReadonlyArray<Json> }
    readonly ModelGateway: { readonly Models: ReadonlyArray<Json> }
  }
  const Networks = Payments.Networks.map((entry) => ({
    ...entry,
    Schemes: ["exact", "upto"],
    FacilitatorAddresses: chain.settlers.map(({ address }) => address)
  }))
  const Models = ModelGateway.Models.map((model) =>
    model["Id"] === "demo/echo" ? { ...model, CountMicroUsd: 50 } : model
  )
  const changed = { Payments: { ...Payments, Networks }, ModelGateway: { ...ModelGateway, Models } }
  return { configuration: { ...configuration, ...changed }, environment }
}

const schemes = {
  exact: (payer: Payer) => new ExactEvmScheme(payer),
  upto: (payer: Payer, rpcUrl: string) => new UptoEvmScheme(payer, { rpcUrl }),
  "batch-settlement": (payer: Payer, rpcUrl: string, salt: `0x${string}`) => {
    const { readContract } = createPublicClient({ chain: baseSepolia, transport: http(rpcUrl, { retryCount: 0 }) })
    const signer = { address: payer.address, signTypedData: payer.signTypedData, readContract }
    return new BatchSettlementEvmScheme(signer as never, { salt, depositPolicy: { depositMultiplier: 10 } })
  }
} as const
type SchemeName = keyof typeof schemes

interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

type Post = (url: string, body: Json) => Promise<Answer>

/** `@x402/axios` 2.11.0 reads no receipts, so it goes on in a channel of its own for each call. */
const clients: Readonly<Record<"fetch" | "axios", (clientOf: (call: number) => x402Client) => Post>> = {
  fetch: (clientOf) => {
    const pay = wrapFetchWithPayment(fetch, clientOf(0))
    return async (url, body) => {
      const headers = { "content-type": "application/json" }
      const response = await pay(url, { method: "POST", headers, body: JSON.stringify(body) })
      const type = response.headers.get("content-type") ?? ""
      return { status: response.status, type, text: await response.text() }
    }
  },
  axios: (clientOf) => {
    let call = 0
    return async (url, body) => {
      call += 1
      const pay = wrapAxiosWithPayment(create(), clientOf(call) as never)
      const response = await pay.post<Readable>(url, body, { responseType: "stream" })
      const parts: Array<Buffer> = []
      for await (const part of response.data) parts.push(part as Buffer)
      const type = String(response.headers["content-type"])
      return { status: response.status, type, text: Buffer.concat(parts).toString("utf8") }
    }
  }
}

const messages = [{ role: "user", content: "sing along" }]
/** Each route with the words by which its answer, or its stream, is whole. */
const calls: ReadonlyArray<readonly [path: string, body: Json, end: RegExp]> = [
  ["/v1/chat/completions", { model: "demo/echo", messages }, /"content":\s*"sing along"/u],
  ["/v1/chat/completions", { model: "demo/echo", messages, stream: true }, /data: \[DONE\]/u],
  ["/v1/messages", { model: "demo/echo", max_tokens: 64, messages }, /"text":\s*"sing along"/u],
  ["/v1/messages", { model: "demo/echo", max_tokens: 64, messages, stream: true }, /event: message_stop/u],
  ["/v1/messages/count_tokens", { model: "demo/echo", messages }, /"input_tokens":\s*\d/u],
  ["/v1/responses", { model: "demo/echo", input: "sing along" }, /"text":\s*"sing along"/u],
  ["/v1/responses", { model: "demo/echo", input: "sing along", stream: true }, /response\.completed/u],
  ["/v1/images/generations", { model: "demo/picture", prompt: "a bird" }, /"(?:url|b64_json)":/u],
  ["/v1/embeddings", { model: "demo/embedding", input: ["a bird", "a gate"] }, /"embedding":\s*\[-?0\./u]
]

const saltOf = (call: number) => `0x${call.toString(16).padStart(64, "0")}` as const

const receiptsOf = ({ receipts }: ChannelFleet, { address }: Payer) =>
  Effect.map(receipts, (all) => all.filter(({ network, payer }) => isSameAddress(network, payer, address)))

/** What all of the payer's channels have been charged. */
const chargedByChannel = Effect.fnUntraced(function* (fleet: ChannelFleet) {
  yield* eventually(fleet.metrics, {
    is: (text) => {
      const sum = (name: string) =>
        Number(new RegExp(`^payment_channel_units\\{[^}]*sum="${name}"[^}]*\\} (\\S+)$`, "mu").exec(text)?.[1] ?? -1)
      return sum("charged") > 0 && sum("charged") === sum("claimed")
    }
  })
  const transfers = yield* fleet.transfers
  return transfers.reduce((sum, each) => sum + each, 0n)
})

const cases = (Object.keys(schemes) as ReadonlyArray<SchemeName>).flatMap((scheme) =>
  (["fetch", "axios"] as const).map((client) => [scheme, client] as const)
)

describe("the protocol's own clients", () => {
  it.live.each(cases)("pay by %s with %s for every route, whole and streamed", ([scheme, name]) =>
    withChannels(
      (fleet) =>
        Effect.gen(function* () {
          const { chain } = fleet
          const payer = newPayer()
          yield* chain.fund(payer.address, 10_000_000n)
          const balance = Effect.promise(() => evmBalance(chain.rpcUrl, chain.asset, payer.address))
          const post = clients[name]((call) =>
            new x402Client().register("eip155:*", schemes[scheme](payer, chain.rpcUrl, saltOf(call)) as never)
          )
          for (const [path, body, end] of calls) {
            const { status, type, text } = yield* Effect.promise(() => post(`${fleet.url}${path}`, body))
            assert.strictEqual(status, 200, text)
            assert.match(text, end)
            assert.include(type, body["stream"] === true ? "text/event-stream" : "application/json")
          }

          yield* eventually(receiptsOf(fleet, payer), { is: (own) => own.length === calls.length })
          const own = yield* receiptsOf(fleet, payer)
          assert.deepStrictEqual(
            [...new Set(own.map((receipt) => `${receipt.scheme} ${receipt.outcome}`))],
            [`${scheme} settled`]
          )
          const receipted = own.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
          const isByChannel = scheme === "batch-settlement"
          const lost = isByChannel ? yield* chargedByChannel(fleet) : 10_000_000n - (yield* balance)
          assert.strictEqual(receipted, lost)
        }),
      { configure: offeringUpto, settler: { ChannelClaimSeconds: 0.5 } }
    )
  )
})

describe("the official OpenAI client with a paying fetch", () => {
  it.live.each(Object.keys(schemes) as ReadonlyArray<SchemeName>)(
    "gets embeddings in base64, as it asks for them, and pays by %s",
    (scheme) =>
      withChannels(
        (fleet) =>
          Effect.gen(function* () {
            const { chain } = fleet
            const payer = newPayer()
            yield* chain.fund(payer.address, 10_000_000n)
            const payments = new x402Client().register(
              "eip155:*",
              schemes[scheme](payer, chain.rpcUrl, saltOf(0)) as never
            )
            const client = new OpenAI({
              baseURL: `${fleet.url}/v1`,
              apiKey: "none",
              maxRetries: 0,
              fetch: wrapFetchWithPayment(fetch, payments)
            })
            // By the provider's count 200 tokens, and 100 by bytes.
            const input = Array.from({ length: 100 }, (_, at) => `${at % 10} b`)
            const answer = yield* Effect.promise(() => client.embeddings.create({ model: "demo/embedding", input }))
            assert.strictEqual(answer.data.length, 100)
            assert.closeTo(Math.hypot(...(answer.data[3]?.embedding ?? [])), 1, 1e-6)
            assert.deepStrictEqual(answer.data[3]?.embedding, answer.data[13]?.embedding)
            assert.deepInclude(fleet.upstream.calls[0]?.body, { encoding_format: "base64" })

            const few = yield* Effect.promise(() =>
              client.embeddings.create({ model: "demo/embedding", input: "supercalifragilistic".repeat(40) })
            )
            assert.strictEqual(few.usage.total_tokens, 1)
            yield* eventually(receiptsOf(fleet, payer), { is: (own) => own.length === 2 })
            const own = yield* receiptsOf(fleet, payer)
            assert.deepStrictEqual(
              [...new Set(own.map((receipt) => `${receipt.scheme} ${receipt.model}`))],
              [`${scheme} demo/embedding`]
            )
            // A token is 100 millionths and the fee 1,000. The first is held to the 100 tokens that were signed for; the
            // second has 200 tokens by its bytes, and by its provider one, for which the least is charged.
            const second = scheme === "exact" ? 21_000 : 2_000
            assert.deepStrictEqual(
              own.map(({ amount }) => Number(amount)).toSorted((a, b) => a - b),
              [11_000, second].toSorted((a, b) => a - b)
            )
            assert.deepStrictEqual(own.map(({ providerCost }) => providerCost).toSorted(), ["1", "100"])
          }),
        { configure: offeringUpto, settler: { ChannelClaimSeconds: 0.5 } }
      )
  )
})
