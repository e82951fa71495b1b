/**
 * What the payment scenarios stand on: a broker, a chain, the demo upstream, a proxy that takes their times, and the
 * three roles, in one process or each in its own. Everything is on loopback, in processes of its own, and ended by its
 * id.
 */
import { join } from "node:path"
import { Effect, Exit, Layer, Scope, Stream } from "effect"
import { type Channel, Channels } from "#payments"
import { localAccount, type LocalChain, startLocalEvmChain } from "#dev/chain"
import { busOf } from "#dev/fixtures/payment-bus"
import { startNatsServer, type TestNatsServer } from "#dev/fixtures/nats-server"
import { paymentAccountsOf, payTo } from "#dev/fixtures/payment-accounts"
import { type Roles, startHelper, startRoles } from "../children.ts"
import { metricsOf } from "./stages.ts"
import { startProxy } from "./start-proxy.ts"

export interface Rig {
  readonly chain: LocalChain
  readonly upstreamUrl: string
  readonly proxy: Awaited<ReturnType<typeof startProxy>>
  /** Where the gateway is called. */
  readonly url: string
  /** What all three roles say of themselves. */
  readonly metrics: () => Promise<string>
  readonly pids: ReadonlyArray<number>
  readonly books: () => Promise<Books>
  readonly channelBooks: () => Promise<ChannelBooks>
}

/** What the records of channels and the chain say; in the token's smallest unit. */
export interface ChannelBooks {
  readonly charged: bigint
  readonly claimed: bigint
  readonly unclaimed: bigint
  /** Claims and sweeps that were sent. */
  readonly transactions: number
}

export interface RigOptions {
  /** Calls may be paid by channel too, and are claimed that often. */
  readonly channels?: { readonly claimSeconds: number }
}

export interface Books {
  readonly transfers: number
  readonly receipts: number
  readonly settled: number
  readonly open: number
}

export { payTo }

const prices = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }

/** Paid for like `demo/echo`, and asked for past the proxy: for calls as fast as they go, where no single one is timed. */
export const untimedModel = "demo/past"

/** The most that can be configured. */
export const callsOfAddressMax = 300

interface Surroundings {
  readonly nats: TestNatsServer
  readonly chain: LocalChain
  readonly proxy: Rig["proxy"]
  readonly upstreamUrl: string
}

const configurationOf = ({ nats, chain, proxy, upstreamUrl }: Surroundings, { channels }: RigOptions) => {
  const authorizer = localAccount("load", "channel authorizer")
  const names = chain.settlers.slice(0, 3).map((_, index) => `LOAD_SETTLER_${index}`)
  return {
    environment: {
      ...Object.fromEntries(names.map((name, index) => [name, chain.settlers[index]?.privateKey ?? ""])),
      LOAD_CHANNEL_AUTHORIZER: authorizer.privateKey
    },
    configuration: {
      Bus: { Url: nats.url },
      ModelGateway: {
        Port: 0,
        Providers: [
          { Name: "local", BaseUrl: `${proxy.provider}/v1` },
          { Name: "untimed", BaseUrl: `${upstreamUrl}/v1` }
        ],
        Models: [
          { Id: "demo/echo", Upstreams: [{ Provider: "local", Model: "echo-1" }], ...prices },
          { Id: untimedModel, Upstreams: [{ Provider: "untimed", Model: "echo-1" }], ...prices },
          { Id: "demo/free", Upstreams: [{ Provider: "untimed", Model: "echo-1" }], Free: true }
        ],
        // Free calls come from many addresses, each within its limit, as their X-Forwarded-For says.
        TrustedProxies: ["127.0.0.0/8"],
        FreeTier: { PerMinute: callsOfAddressMax, PerHour: callsOfAddressMax }
      },
      ...(channels === undefined
        ? {}
        : { PaymentSettler: { ChannelClaimSeconds: channels.claimSeconds, ChannelClaimUsd: 1_000_000 } }),
      Payments: {
        ...(channels === undefined
          ? {}
          : {
              Channels: [
                {
                  Network: chain.network,
                  ReceiverAuthorizer: authorizer.address,
                  AuthorizerKeyEnvVar: "LOAD_CHANNEL_AUTHORIZER"
                }
              ]
            }),
        Networks: [
          {
            Network: chain.network,
            RpcUrls: [proxy.chain],
            Asset: chain.asset,
            PayTo: payTo,
            SettlerKeyEnvVars: names
          }
        ]
      }
    }
  }
}

/** The fourth settler is the reference server's. */
const settlerCount = 4

const roleNames = ["payment-verifier", "payment-settler", "model-gateway"] as const

export const withRig = async <A>(
  use: (rig: Rig) => Promise<A>,
  isApart = false,
  options: RigOptions = {}
): Promise<A> => {
  const scope = Scope.makeUnsafe()
  const inScope = <B, E>(effect: Effect.Effect<B, E, Scope.Scope>) =>
    Effect.runPromise(Effect.provideService(effect, Scope.Scope, scope))
  const ends: Array<() => Promise<unknown>> = [() => Effect.runPromise(Scope.close(scope, Exit.void))]
  try {
    const nats = await startNatsServer()
    ends.push(() => nats.stop())
    const chain = await inScope(startLocalEvmChain({ settlerCount }))
    const upstream = await startHelper<{ url: string }>(join(import.meta.dirname, "upstream-process.ts"))
    ends.push(upstream.end)
    const proxy = await startProxy(chain.rpcUrl, upstream.said.url)
    ends.push(proxy.end)
    const { configuration, environment } = configurationOf(
      { nats, chain, proxy, upstreamUrl: upstream.said.url },
      options
    )
    const roles: Array<Roles> = []
    for (const names of isApart ? roleNames.map((name) => [name]) : [roleNames]) {
      const started = await startRoles(names, configuration, environment)
      roles.push(started)
      ends.push(started.end)
    }
    const metrics = async () => (await Promise.all(roles.map((each) => metricsOf(each.metrics)))).join("\n")
    const url = roles.map(({ urls }) => urls["model-gateway"]).find((found) => found !== undefined) ?? ""
    const pids = roles.map(({ pid }) => pid)
    const { claimStates, receipts, transfers } = await inScope(paymentAccountsOf({ server: nats, chain }))
    const books = async (): Promise<Books> => {
      const [states, written, moved] = await inScope(Effect.all([claimStates, receipts, transfers]))
      return {
        transfers: moved.length,
        receipts: new Set(written.filter(({ outcome }) => outcome === "settled").map(({ claimKey }) => claimKey)).size,
        settled: states.filter((state) => state === "SETTLED").length,
        open: states.filter((state) => state === "CLAIMED" || state === "SERVING" || state === "SETTLING").length
      }
    }
    const readChannels = await inScope(channelsOn(nats))
    const channelBooks = async (): Promise<ChannelBooks> => {
      const channels = await inScope(readChannels)
      const sum = (of: (channel: Channel) => string) =>
        channels.reduce((total, channel) => total + BigInt(of(channel)), 0n)
      const [charged, claimed] = [sum((each) => each.charged), sum(({ mirror }) => mirror.totalClaimed)]
      const lines = (await metrics()).matchAll(
        /^payment_channel_transactions_total\{[^}]*outcome="made"[^}]*\} ([0-9]+)$/gmu
      )
      const transactions = [...lines].reduce((total, [, count]) => total + Number(count), 0)
      return { charged, claimed, unclaimed: charged - claimed, transactions }
    }
    return await use({ chain, upstreamUrl: upstream.said.url, proxy, url, metrics, pids, books, channelBooks })
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

/** All records of channels, read by an observer that is none of the roles. */
const channelsOn = Effect.fnUntraced(function* (nats: TestNatsServer) {
  const bus = yield* busOf(nats)
  const layer = Layer.build(Channels.layer)
  const { all } = yield* Effect.provideContext(
    Effect.flatMap(layer, (context) => Effect.provideContext(Channels, context)),
    bus
  )
  return Effect.map(Stream.runCollect(all), (entries) => entries.map(({ value }) => value))
})
