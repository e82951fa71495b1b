/**
 * `./starling up` with its own chains and payers, an upstream of the test's own that fails on order, and a wire in
 * front of the gateway.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import { type Home, newHome, type RunningFleet, startFleet } from "../../dev/fixtures/starling.ts"
import { startWire, type Wire } from "./wire.ts"

export interface PaidFleet {
  /** Of the wire: `http://localhost:<port>`. */
  readonly url: string
  readonly wire: Wire
  readonly home: Home
  readonly fleet: RunningFleet
  readonly evm: Payer & { readonly privateKey: `0x${string}` }
  readonly solana: Payer & { readonly secretKey: string }
  /** So many of the next calls to `demo/flaky` are answered 503. */
  readonly failNext: (calls: number) => void
  readonly stop: () => Promise<void>
}

interface Payer {
  readonly rpc: string
  /** In the smallest unit. */
  readonly balance: () => Promise<bigint>
}

const solanaDollar = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"

/** A provider that is overloaded as often as ordered. */
const startFlaky = async (upstream: string) => {
  const state = { failures: 0 }
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.once("end", () => {
      if (state.failures-- > 0) {
        const error = { message: "The engine is currently overloaded.", type: "server_error", code: null }
        return response.writeHead(503, { "content-type": "application/json" }).end(JSON.stringify({ error }))
      }
      const headers = { "content-type": "application/json" }
      return void fetch(`${upstream}${request.url}`, { method: "POST", headers, body: Buffer.concat(parts) }).then(
        async (answer) => {
          response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" })
          response.end(Buffer.from(await answer.arrayBuffer()))
        }
      )
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, state, end }
}

const price = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }

const configurationOf = (origin: string, upstream: string, flaky: string) => ({
  ModelGateway: {
    Origin: origin,
    Providers: [
      { Name: "local", BaseUrl: `${upstream}/v1` },
      { Name: "flaky", BaseUrl: `${flaky}/v1` }
    ],
    Models: [
      { Id: "demo/echo", Upstreams: [{ Provider: "local", Model: "echo-1" }], ...price },
      { Id: "demo/flaky", Upstreams: [{ Provider: "flaky", Model: "echo-1" }], ...price },
      { Id: "demo/free", Upstreams: [{ Provider: "local", Model: "free-1" }], Free: true },
      { Id: "demo/nostream", Upstreams: [{ Provider: "local", Model: "nostream-1" }], ...price, Streams: false },
      { Id: "demo/dear", Upstreams: [{ Provider: "local", Model: "echo-1" }], FlatMicroUsd: 900_000 }
    ]
  }
})

const ask = async <A>(rpc: string, method: string, params: ReadonlyArray<unknown>): Promise<A> => {
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })
  return ((await (await fetch(rpc, { method: "POST", headers, body })).json()) as { readonly result: A }).result
}

/** On an EVM chain, in the smallest unit. */
export const evmBalance = async (rpc: string, asset: string, owner: string) => {
  const data = `0x70a08231${owner.slice(2).toLowerCase().padStart(64, "0")}`
  return BigInt(await ask<string>(rpc, "eth_call", [{ to: asset, data }, "latest"]))
}

interface SolanaAccounts {
  readonly value: ReadonlyArray<{
    readonly account: { readonly data: { readonly parsed: { readonly info: { tokenAmount: { amount: string } } } } }
  }>
}

/** In the smallest unit. */
export const solanaBalance = async (rpc: string, owner: string) => {
  const question = [owner, { mint: solanaDollar }, { encoding: "jsonParsed" }]
  const { value } = await ask<SolanaAccounts>(rpc, "getTokenAccountsByOwner", question)
  return BigInt(value[0]?.account.data.parsed.info.tokenAmount.amount ?? "0")
}

export const startPaidFleet = async (changes: Readonly<Record<string, string>> = {}): Promise<PaidFleet> => {
  const scope = Scope.makeUnsafe()
  const upstream = await Effect.runPromise(Effect.provideService(startLocalUpstream(), Scope.Scope, scope))
  const flaky = await startFlaky(upstream.url)
  const wire = await startWire()
  const roles = { FLEET_ROLES: '["model-gateway","payment-verifier","payment-settler"]' }
  const home = newHome({ ...roles, ...changes })
  const config = join(home.folder, "config.json")
  writeFileSync(config, JSON.stringify(configurationOf(wire.url, upstream.url, flaky.url)))
  const configured = { ...home, environment: { ...home.environment, STARLING_CONFIG: config } }
  const fleet = await startFleet(configured)
  const { chains, gateway } = fleet.ready
  const { evm, solana } = chains
  wire.target = gateway
  return {
    url: wire.url,
    wire,
    home: configured,
    fleet,
    evm: {
      rpc: evm.rpc,
      privateKey: evm.payer.privateKey,
      balance: () => evmBalance(evm.rpc, evm.asset, evm.payer.address)
    },
    solana: {
      rpc: solana.rpc,
      secretKey: solana.payer.secretKey,
      balance: () => solanaBalance(solana.rpc, solana.payer.address)
    },
    failNext: (calls) => void (flaky.state.failures = calls),
    stop: async () => {
      await fleet.stop("SIGTERM")
      await wire.end()
      await flaky.end()
      await Effect.runPromise(Scope.close(scope, Exit.void))
      home.remove()
    }
  }
}
