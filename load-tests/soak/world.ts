/**
 * All three jobs, standing: bundled as `./starling up` runs them, or each role in a process of its own. Receivers of
 * webhooks, the chain and the provider stand beside it, on loopback; everything is ended by its id.
 */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { type RoleName, roleNames } from "#base"
import { startLocalEvmChain } from "#dev/chain"
import type { BusAddress } from "#dev/fixtures/bus-address"
import { freePort } from "#dev/fixtures/free-port"
import { startNatsServer } from "#dev/fixtures/nats-server"
import { modelVoice, newHome, program, startFleet } from "#dev/fixtures/starling"
import { type Roles, startHelper, startRoles } from "../children.ts"
import { processesOf, useOf } from "../process-use.ts"
import { startReceiver } from "../webhooks/rig.ts"

export interface SoakWorld {
  /** As the house has it: what is published is the actors' in production. */
  readonly bus: BusAddress
  readonly speech: string
  readonly gateway: string
  readonly token: string
  readonly chain: { readonly rpc: string; readonly payer: { readonly address: string; readonly privateKey: string } }
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>
  /** Resident memory by the name of the process; of several with one name the sum. */
  readonly residentMb: () => Readonly<Record<string, number>>
  /** Where the process of all roles shows its metrics; there is none when each runs apart. */
  readonly metrics?: string
  /** Of all roles so far. */
  readonly cpuSeconds: () => number
  /** The processes of the roles, when each runs apart. */
  readonly apart?: Apart
}

interface Apart {
  readonly console: string
  /** Where each role shows its metrics. */
  readonly metrics: ReadonlyMap<RoleName, string>
  /** Ends one as a rollout does, and starts it anew at the same addresses. */
  readonly restart: (role: RoleName) => Promise<void>
}

type Receiver = SoakWorld["receiver"]
type Use<A> = (world: SoakWorld) => Promise<A>

const secret = "a-secret-for-load-tests"

const webhooksTo = (receiver: Receiver, isFlaky: boolean) => ({
  Webhooks: [
    { Name: "ok", Url: receiver.url("ok", 0), SecretEnvVar: "LOAD_SECRET" },
    ...(isFlaky
      ? [{ Name: "flaky", Url: receiver.url("flaky", 1), SecretEnvVar: "LOAD_SECRET", CircuitBreaker: false }]
      : [])
  ],
  WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"] },
  SpeechApi: { ConcurrencyPerWorkspace: 1_000, Port: 0 }
})

const sumBy = (entries: ReadonlyArray<readonly [string, number]>) => {
  const sums: Record<string, number> = {}
  for (const [name, value] of entries) sums[name] = (sums[name] ?? 0) + value
  return sums
}

const ofRoles = new Set(["up", "synthesizer", "encoder"])

const bundled = async <A>(receiver: Receiver, isFlaky: boolean, use: Use<A>): Promise<A> => {
  const home = newHome({ ...modelVoice, TELEMETRY_LOG_LEVEL: "Error", LOAD_SECRET: secret })
  const config = join(home.folder, "config.json")
  writeFileSync(config, JSON.stringify(webhooksTo(receiver, isFlaky)))
  try {
    const fleet = await startFleet({ ...home, environment: { ...home.environment, STARLING_CONFIG: config } })
    try {
      return await use({
        ...fleet.ready,
        bus: fleet.busAs("operator"),
        chain: fleet.ready.chains.evm,
        receiver,
        residentMb: () => sumBy(processesOf(fleet.pid).map(({ kind, rssMb }) => [kind, rssMb])),
        cpuSeconds: () =>
          processesOf(fleet.pid)
            .filter(({ kind }) => ofRoles.has(kind))
            .reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
      })
    } finally {
      await fleet.stop("SIGTERM")
    }
  } finally {
    home.remove()
  }
}

const prices = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }

const apart = async <A>(receiver: Receiver, isFlaky: boolean, use: Use<A>): Promise<A> => {
  const scope = Scope.makeUnsafe()
  const ends: Array<() => Promise<unknown>> = [() => Effect.runPromise(Scope.close(scope, Exit.void))]
  try {
    const nats = await startNatsServer()
    ends.push(nats.stop)
    const chain = await Effect.runPromise(Effect.provideService(startLocalEvmChain(), Scope.Scope, scope))
    const upstream = await startHelper<{ url: string }>(join(import.meta.dirname, "../payments/upstream-process.ts"))
    ends.push(upstream.end)
    const keys = chain.settlers.map(({ privateKey }, index) => [`LOAD_SETTLER_${index}`, privateKey] as const)
    const network = { Network: chain.network, RpcUrls: [chain.rpcUrl], Asset: chain.asset, PayTo: payTo }
    const configuration = {
      ...webhooksTo(receiver, isFlaky),
      Bus: { Url: nats.url },
      PipelineApi: { Port: await freePort() },
      Console: { Port: await freePort() },
      SpeechApi: { ConcurrencyPerWorkspace: 1_000, Port: await freePort() },
      ModelGateway: {
        Port: await freePort(),
        Providers: [{ Name: "local", BaseUrl: `${upstream.said.url}/v1` }],
        Models: [{ Id: "demo/echo", Upstreams: [{ Provider: "local", Model: "echo-1" }], ...prices }]
      },
      Payments: { Networks: [{ ...network, SettlerKeyEnvVars: keys.map(([name]) => name) }] }
    }
    const ports = new Map<RoleName, number>()
    for (const role of roleNames) ports.set(role, await freePort())
    const metrics = new Map([...ports].map(([role, port]) => [role, `http://127.0.0.1:${port}`]))
    const running = new Map<RoleName, Roles>()
    const start = async (role: RoleName) => {
      const own = { Telemetry: { Port: ports.get(role), LogLevel: process.env["LOAD_LOG"] ?? "Error" } }
      const processes =
        role === "console" ? { Console: { ...configuration.Console, Processes: [...metrics.values()] } } : {}
      const environment = { LOAD_SECRET: secret, ...Object.fromEntries(keys) }
      running.set(role, await startRoles([role], { ...configuration, ...processes, ...own }, environment))
    }
    ends.push(() => Promise.all([...running.values()].map(({ end }) => end())))
    for (const role of roleNames) await start(role)
    const urls = Object.assign({}, ...[...running.values()].map((roles) => roles.urls)) as Record<string, string>
    const make = [program, "token", "make", "--role", "owner", "--nats", nats.url]
    const token = execFileSync(process.execPath, make, { encoding: "utf8" }).trim()
    const named = () => {
      const roles = [...running].flatMap(([role, { pid }]) =>
        processesOf(pid).map((use) => ({ ...use, name: use.kind === "up" ? role : use.kind }))
      )
      return {
        roles,
        beside: [
          { ...useOf(nats.pid()), name: "nats-server" },
          { ...useOf(chain.pid), name: "chain" }
        ]
      }
    }
    return await use({
      bus: { url: nats.url },
      speech: urls["speech-api"] ?? "",
      gateway: urls["model-gateway"] ?? "",
      token,
      chain: { rpc: chain.rpcUrl, payer: chain.payer },
      receiver,
      residentMb: () => {
        const { roles, beside } = named()
        return sumBy([...roles, ...beside].map(({ name, rssMb }) => [name, rssMb]))
      },
      cpuSeconds: () => named().roles.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0),
      apart: {
        console: urls["console"] ?? "",
        metrics,
        restart: async (role) => {
          await running.get(role)?.end()
          await start(role)
        }
      }
    })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

const payTo = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

interface WorldOptions {
  readonly isApart: boolean
  /** With a second endpoint, which refuses each delivery first. */
  readonly isFlaky: boolean
}

export const withSoakWorld = async <A>({ isApart, isFlaky }: WorldOptions, use: Use<A>): Promise<A> => {
  const receiver = await startReceiver()
  try {
    return await (isApart ? apart(receiver, isFlaky, use) : bundled(receiver, isFlaky, use))
  } finally {
    await receiver.stop()
  }
}
