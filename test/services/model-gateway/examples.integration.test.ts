import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chat } from "../../support/gateway.ts"
import { payingFetch, quoteOf } from "../../support/payment-client.ts"
import { balanced, type Parts, withPayments } from "../../support/payment-fleet.ts"
import { payTo } from "../../../dev/fixtures/payment-accounts.ts"

type Json = Readonly<Record<string, unknown>>

interface Example {
  readonly ModelGateway: Json & { readonly Providers: ReadonlyArray<Json & { readonly KeyEnvVar: string }> }
  readonly Payments: Json & {
    readonly Networks: ReadonlyArray<Json & { readonly SettlerKeyEnvVars: ReadonlyArray<string> }>
  }
}

const path = "/api/v1/chat/completions"
const base = JSON.parse(readFileSync(new URL("../../../deploy/examples/base.json", import.meta.url), "utf8")) as Example

/** The example as it is written, with this machine's nodes, providers, ports and payee. */
const here = ({ server, chain, upstream }: Parts) => {
  const { ModelGateway, Payments } = base
  const [network] = Payments.Networks
  const settlers = network?.SettlerKeyEnvVars ?? []
  return {
    configuration: {
      ...base,
      Bus: { Url: server.url },
      ModelGateway: {
        ...ModelGateway,
        Host: "127.0.0.1",
        Port: 0,
        Providers: ModelGateway.Providers.map((provider) => ({ ...provider, BaseUrl: `${upstream.url}/v1` }))
      },
      Payments: { ...Payments, Networks: [{ ...network, RpcUrls: [chain.rpcUrl], PayTo: payTo }] },
      PaymentSettler: { SweepSeconds: 0.25, ReconcileSeconds: 1, BooksGraceSeconds: 20 }
    },
    environment: {
      ...Object.fromEntries(ModelGateway.Providers.map(({ KeyEnvVar }) => [KeyEnvVar, "a-key-of-this-test"])),
      ...Object.fromEntries(settlers.map((name, index) => [name, chain.settlers[index]?.privateKey ?? ""]))
    }
  }
}

describe("the example configuration on Base", () => {
  it.live("is paid by the protocol's own client, which signs the token's name there", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const call = (fetcher: typeof fetch, model: string) =>
            Effect.promise(() =>
              fetcher(`${fleet.url}${path}`, {
                method: "POST",
                headers: { "content-type": "application/json" },
                body: JSON.stringify({ ...chat("hello there"), model })
              })
            )
          const quote = quoteOf(yield* call(fetch, "openai/gpt-4.1-mini"))
          assert.deepInclude(
            { ...quote.accepts[0] },
            {
              network: "eip155:8453",
              asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
              extra: { name: "USD Coin", version: "2" }
            }
          )
          const client = payingFetch(fleet.chain.payer.privateKey)
          for (const model of ["openai/gpt-4.1-mini", "anthropic/claude-sonnet-4"]) {
            const response = yield* call(client, model)
            const text = yield* Effect.promise(() => response.text())
            assert.strictEqual(response.status, 200, text)
            assert.include(text, "hello there")
            assert.match(response.headers.get("x-payment-receipt") ?? "", /^0x[0-9a-f]{64}$/u)
          }
          assert.strictEqual(yield* balanced(fleet), 2)
        }),
      { chain: { network: "eip155:8453" }, configure: here }
    )
  )
})
