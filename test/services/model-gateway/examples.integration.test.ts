import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { UptoEvmScheme } from "@x402/evm/upto/client"
import { wrapFetchWithPayment, x402Client } from "@x402/fetch"
import { Effect } from "effect"
import { privateKeyToAccount } from "viem/accounts"
import { permit2Address } from "#dev/chain"
import { keystoreVectors } from "../../../dev/fixtures/evm/keystore-files.ts"
import { approveCall } from "../../../dev/fixtures/evm/token-calls.ts"
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
const written = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../../deploy/examples/${name}`, import.meta.url), "utf8")) as Example
const base = written("base.json")

/** The example as it is written, with this machine's nodes, providers, ports and payee. */
const here = ({ server, chain, upstream }: Pick<Parts, "server" | "chain" | "upstream">, example = base) => {
  const { ModelGateway, Payments } = example
  const [network] = Payments.Networks
  const settlers = network?.SettlerKeyEnvVars ?? []
  return {
    configuration: {
      ...example,
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

describe("the example configuration on Base by upto, with a keystore", () => {
  let folder = ""
  beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "starling-keystores-"))))
  afterAll(() => rmSync(folder, { recursive: true }))
  const vector = keystoreVectors[4]
  const settler = privateKeyToAccount(`0x${vector?.key}`).address

  /** With the file of another program in the folder, and its address in place of the example's. */
  const withKeystore = (parts: Parts) => {
    writeFileSync(join(folder, "base-1.json"), JSON.stringify(vector?.file))
    writeFileSync(join(folder, "base-1.password"), `${vector?.password}\n`)
    const text = JSON.stringify(written("base-upto-keystore.json"))
      .replaceAll("/etc/starling-keystores", folder)
      .replaceAll(`0x${"0".repeat(39)}1`, settler)
    return here(parts, JSON.parse(text) as Example)
  }

  it.live("charges the protocol's own client what was used, and settles by the key in the file", () =>
    withPayments(
      (fleet) =>
        Effect.gen(function* () {
          const { chain } = fleet
          const payer = privateKeyToAccount(chain.payer.privateKey)
          yield* chain.rpc("anvil_setBalance", [settler, "0xde0b6b3a7640000"])
          yield* chain.rpc("anvil_impersonateAccount", [payer.address])
          yield* chain.rpc("anvil_setBalance", [payer.address, "0xde0b6b3a7640000"])
          const approval = { from: payer.address, to: chain.asset, data: approveCall(permit2Address) }
          yield* chain.rpc("eth_sendTransactionSync", [approval])
          const client = new x402Client().register("eip155:*", new UptoEvmScheme(payer, { rpcUrl: chain.rpcUrl }))
          const response = yield* Effect.promise(() =>
            wrapFetchWithPayment(fetch, client)(`${fleet.url}${path}`, {
              method: "POST",
              headers: { "content-type": "application/json" },
              body: JSON.stringify({ ...chat("hello there"), model: "openai/gpt-4.1-mini" })
            })
          )
          assert.strictEqual(response.status, 200)
          assert.strictEqual(yield* balanced(fleet), 1)
          assert.strictEqual(Number(yield* chain.rpc("eth_getTransactionCount", [settler, "latest"])), 1)
          const [receipt] = yield* fleet.receipts
          assert.strictEqual(receipt?.scheme, "upto")
        }),
      { chain: { network: "eip155:8453" }, configure: withKeystore }
    )
  )
})
