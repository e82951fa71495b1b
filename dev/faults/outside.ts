/** What a fleet has around it: receivers, a provider, a chain, a collector of traces and an engine, each behind a gate. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { type LocalChain, startLocalEvmChain } from "#dev/chain"
import { startLocalUpstream } from "#dev/upstream"
import { type Gate, startGate } from "./gate.ts"

export interface Outside {
  /** Answers the endpoints, each at `/` and its name. */
  readonly receiver: Gate
  readonly provider: Gate
  /** The first of the shop's two nodes. */
  readonly node: Gate
  readonly chain: LocalChain
  /** Of a network that the shop leaves to somebody else. */
  readonly facilitator: Gate
  readonly collector: Gate
  /** How the engine of the laboratory speaks from now on. */
  readonly engine: (manner: "hums" | "fails") => void
  readonly engineFile: string
}

type Section = Readonly<Record<string, unknown>>

const shopNetwork = "eip155:8453"

/** Nobody's. */
const sellerAddress = "0x5E11E40000000000000000000000000000000001"

/** In a folder of its own. Ends with the scope. */
export const outsideOf = Effect.fnUntraced(function* (folder: string) {
  const chain = yield* startLocalEvmChain({ network: shopNetwork, settlerCount: 1 })
  const upstream = yield* startLocalUpstream()
  const gate = (behind?: string) =>
    Effect.acquireRelease(
      Effect.promise(() => startGate(behind)),
      ({ close }) => Effect.sync(close)
    )
  const engineFile = join(folder, "engine")
  const engine = (manner: string) => writeFileSync(engineFile, manner)
  engine("hums")
  const outside: Outside = {
    receiver: yield* gate(),
    provider: yield* gate(upstream.url),
    node: yield* gate(chain.rpcUrl),
    chain,
    facilitator: yield* gate(),
    collector: yield* gate(),
    engine,
    engineFile
  }
  return outside
})

/** One for each fault, so that faults of endpoints are played at the same time. */
const endpointsAt = (url: string) => [
  { Name: "failing", Url: `${url}/failing`, MaxAttempts: 20, CircuitBreaker: false },
  { Name: "given-up", Url: `${url}/given-up`, MaxAttempts: 1, CircuitBreaker: false },
  { Name: "left-alone", Url: `${url}/left-alone`, MaxAttempts: 20, InitialBackoffSeconds: 1, Jitter: 0 },
  { Name: "moving", Url: `${url}/moving` },
  { Name: "away", Url: `${url}/away` },
  { Name: "narrow", Url: `${url}/narrow`, BacklogMax: 2, Concurrency: 1, TimeoutSeconds: 300 }
]

const free = { Id: "demo/free", Upstreams: [{ Provider: "demo", Model: "demo/free" }], Free: true }

/** Of all sweepers: whichever has a lease. */
export const sweeperOf = { Sweeper: { ReconciliationSeconds: 2 } }

/** Of `up`. `processes`: those beside it. */
export const settingsOf = (outside: Outside, processes: ReadonlyArray<string>) => ({
  Webhooks: endpointsAt(outside.receiver.url),
  Console: { Processes: processes },
  ModelGateway: {
    Providers: [{ Name: "demo", BaseUrl: `${outside.provider.url}/v1` }],
    Models: [free, sold()]
  },
  ...sweeperOf,
  PaymentSettler: { ReconcileSeconds: 2, BooksGraceSeconds: 1 },
  Telemetry: { OtlpUrl: outside.collector.url, TraceSampleRatio: 1 },
  Voices: {
    Processes: [
      {
        Id: "lab",
        Command: process.execPath,
        Arguments: [join(import.meta.dirname, "engine.ts"), outside.engineFile],
        Voices: [{ Id: "hum", Locale: "en-US", Gender: "not_specified", Speaker: "hum" }]
      }
    ]
  }
})

/** A model that is sold by its tokens. */
export const sold = (costs: Readonly<Record<string, number>> = {}) => ({
  Id: "demo/sold",
  Upstreams: [{ Provider: "demo", Model: "demo/echo", ...costs }],
  InputMicroUsdPerMillionTokens: 1_000_000,
  OutputMicroUsdPerMillionTokens: 3_000_000
})

interface ShopChanges {
  readonly port: number
  readonly network?: Section
  readonly model?: Readonly<Record<string, number>>
}

/** Of the further shop, on its own network. */
export const shopOf = ({ node, chain, provider }: Outside, { port, network = {}, model = {} }: ShopChanges) => ({
  ModelGateway: {
    Port: port,
    Providers: [{ Name: "demo", BaseUrl: `${provider.url}/v1` }],
    Models: [sold(model)]
  },
  Payments: {
    Networks: [
      {
        Network: shopNetwork,
        RpcUrls: [node.url, chain.rpcUrl],
        PayTo: sellerAddress,
        SettlerKeyEnvVars: ["FAULTS_SETTLER_KEY"],
        ...network
      }
    ]
  }
})

export const shopSecrets = ({ chain }: Outside) => ({ FAULTS_SETTLER_KEY: chain.settlers[0]?.privateKey ?? "" })
