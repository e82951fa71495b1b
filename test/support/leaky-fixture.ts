/**
 * The outside world at its worst, for a fleet that must keep secrets: a provider whose errors repeat its key and its
 * prompt, a receiver whose errors repeat its secret and every header, and a chain's node whose address is a key, before
 * a chain that works.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect, Exit, Scope } from "effect"
import { type LocalChain, startLocalEvmChain } from "../../dev/chain/evm/LocalEvmChain.ts"
import { startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import type { PlantedSecrets } from "./planted.ts"

export interface LeakyFixture {
  readonly chain: LocalChain
  /** A provider that works. */
  readonly provider: string
  /** Answers everything with an error that repeats the request. */
  readonly leaky: string
  /** Hands on to the chain whatever the path. */
  readonly node: string
  readonly receiver: string
  /** Paths of the receiver that were called. */
  readonly called: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

type Handler = (request: IncomingMessage, body: Buffer, response: ServerResponse) => void

const serve = async (handler: Handler) => {
  const server = createServer((request, response) => {
    const parts: Array<Buffer> = []
    request.on("data", (part: Buffer) => parts.push(part))
    request.once("end", () => handler(request, Buffer.concat(parts), response))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end }
}

export const startLeakyFixture = async (secrets: Readonly<Record<string, string>>): Promise<LeakyFixture> => {
  const scope = Scope.makeUnsafe()
  const inScope = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    Effect.runPromise(Effect.provideService(effect, Scope.Scope, scope))
  const chain = await inScope(startLocalEvmChain())
  const { url: provider } = await inScope(startLocalUpstream())
  const called: Array<string> = []
  const leaky = await serve((request, body, response) => {
    const headers = JSON.stringify(request.headers)
    const error = {
      message: `Incorrect API key in ${headers}; asked: ${body.toString()}`,
      type: "invalid_request_error"
    }
    response.writeHead(request.url?.includes("broken") === true ? 500 : 401, {
      "content-type": "application/json",
      "x-echo": request.headers.authorization ?? ""
    })
    response.end(JSON.stringify({ error }))
  })
  const node = await serve((_, body, response) => {
    const headers = { "content-type": "application/json" }
    void fetch(chain.rpcUrl, { method: "POST", headers, body }).then(
      async (answer) => response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer())),
      () => response.writeHead(502).end()
    )
  })
  const receiver = await serve((request, body, response) => {
    called.push(request.url ?? "")
    if (request.url?.startsWith("/well") === true) return response.writeHead(204).end()
    response.writeHead(500, { "x-echo": JSON.stringify(secrets) })
    return response.end(`${JSON.stringify(secrets)} ${JSON.stringify(request.headers)} ${body.toString()}`)
  })
  return {
    chain,
    provider,
    leaky: leaky.url,
    node: node.url,
    receiver: receiver.url,
    called,
    stop: async () => {
      for (const { end } of [leaky, node, receiver]) await end()
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
}

const price = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }
const served = (id: string, provider: string, more: object = price) => ({
  Id: `demo/${id}`,
  Upstreams: [{ Provider: provider, Model: "echo-1" }],
  ...more
})

/** A fleet in that world, in which each secret stands where it belongs. */
export const leakyConfiguration = (fixture: LeakyFixture, planting: PlantedSecrets) => ({
  Webhooks: ["well", "ill"].map((name) => ({
    Name: name,
    Url: `${fixture.receiver}/${name}?token=${planting.address}`,
    SecretEnvVar: "PLANTED_WEBHOOK",
    StandardWebhooksSecretEnvVar: "PLANTED_STANDARD",
    EventFilter: ["*"],
    MaxAttempts: 2,
    InitialBackoffSeconds: 0.1
  })),
  ModelGateway: {
    Providers: [
      { Name: "works", BaseUrl: `${fixture.provider}/v1`, KeyEnvVar: "PLANTED_PROVIDER" },
      { Name: "leaky", BaseUrl: `${fixture.leaky}/v1`, KeyEnvVar: "PLANTED_PROVIDER" },
      { Name: "broken", BaseUrl: `${fixture.leaky}/broken/v1`, Kind: "anthropic", KeyEnvVar: "PLANTED_OTHER" }
    ],
    Models: [
      served("echo", "works"),
      served("leaky", "leaky"),
      served("broken", "broken"),
      served("free", "leaky", { Free: true })
    ]
  },
  Payments: {
    Networks: [
      {
        Network: fixture.chain.network,
        RpcUrls: [`http://127.0.0.1:9/v2/${planting.deadNode}`, `${fixture.node}/v2/${planting.node}`],
        Asset: fixture.chain.asset,
        PayTo: fixture.chain.settlers[1]?.address,
        SettlerKeyEnvVars: ["PLANTED_SETTLER"]
      }
    ]
  },
  Agents: { Kinds: [{ Kind: "coder" }], Default: "coder" },
  Redaction: { SecretEnvVars: ["PLANTED_UNREADABLE"] }
})
