/**
 * The paid gateway of a test's own: a broker, a chain, an upstream, and the three roles, each with a connection of
 * its own, in this process.
 */
import { Effect, Layer, type Scope } from "effect"
import { localTransport } from "#bus"
import type { Receipt } from "#payments/contract"
import type { RoleName } from "#base"
import { ConfiguredHttp, UntrustedHttp } from "#egress"
import { Addresses, Drain, Environment, Health, type HealthReport, Metrics, Role } from "#runtime"
import { Configuration } from "#configuration"
import { type ClaimState, localSettlers } from "#payments"
import { type LocalChain, startLocalEvmChain, type LocalEvmChainOptions } from "../../dev/chain/evm/LocalEvmChain.ts"
import { type LocalUpstream, startLocalUpstream } from "../../dev/upstream/LocalUpstream.ts"
import { modelGateway } from "../../services/model-gateway/role.ts"
import { paymentSettler } from "../../services/payment-settler/role.ts"
import { paymentVerifier } from "../../services/payment-verifier/role.ts"
import { natsServer, busOn } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { TestSigner } from "../../dev/fixtures/evm/remote-signer.ts"
import { paymentAccountsOf, payTo } from "../../dev/fixtures/payment-accounts.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { keptBy, type SignerKind } from "./settler-signers.ts"

type Json = Readonly<Record<string, unknown>>

export interface PaymentFleetOptions {
  readonly payments?: Json
  readonly settler?: Json
  readonly verifier?: Json
  readonly gateway?: Json
  readonly network?: Json
  readonly chain?: LocalEvmChainOptions
  /** Where the settlers' keys are. */
  readonly signer?: SignerKind
  /** Another configuration and environment than the usual, made of the parts. */
  readonly configure?: (parts: Parts) => Pick<Parts, "configuration" | "environment">
  /** Without a word all three, once each. */
  readonly roles?: ReadonlyArray<RoleName>
  /** Whether the roles reach each other as those of one process do; by default only through the broker. */
  readonly hasLocalTransport?: boolean
}

export interface Parts {
  readonly server: TestNatsServer
  readonly chain: LocalChain
  readonly upstream: LocalUpstream
  readonly configuration: Json
  readonly environment: Readonly<Record<string, string>>
  /** The program that has the settlers' keys, where they are with one. */
  readonly signer?: TestSigner
}

export interface PaymentFleet extends Parts {
  readonly url: string
  readonly facilitator: string
  /** Everything that was counted, of all roles. */
  readonly metrics: Effect.Effect<string>
  /** The log of each role; the last process of each that was started. */
  readonly readiness: Effect.Effect<Readonly<Record<string, HealthReport>>>
  /** Every gateway that was started. */
  readonly gateways: () => ReadonlyArray<string>
  /** Starts one more of a role; `changed`: with another configuration. */
  readonly start: (role: RoleName, changed?: Json) => Effect.Effect<void, unknown, Scope.Scope>
  readonly receipts: Effect.Effect<ReadonlyArray<Receipt>>
  readonly claimStates: Effect.Effect<ReadonlyArray<ClaimState>>
  /** Amounts of transfers to us, as the chain has them. */
  readonly transfers: Effect.Effect<ReadonlyArray<bigint>>
}

const halfThePrice = { CostInputMicroUsdPerMillionTokens: 500_000, CostOutputMicroUsdPerMillionTokens: 1_000_000 }
const paid = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 2_000_000 }

const layers = {
  "model-gateway": modelGateway,
  "payment-verifier": paymentVerifier,
  "payment-settler": paymentSettler
} as const

/** The roles' surroundings, and their configuration. */
export const startParts = Effect.fn("startParts")(function* (options: PaymentFleetOptions = {}) {
  const [server, chain, upstream] = yield* Effect.all(
    [natsServer, startLocalEvmChain({ settlerCount: 3, ...options.chain }), startLocalUpstream()],
    { concurrency: "unbounded" }
  )
  const names = chain.settlers.map((_, index) => `TEST_SETTLER_${index}`)
  const environment = Object.fromEntries(
    chain.settlers.map(({ privateKey }, index) => [names[index] ?? "", privateKey])
  )
  const configuration = {
    Bus: { Url: server.url },
    ModelGateway: {
      Port: 0,
      Providers: [{ Name: "plain", BaseUrl: `${upstream.url}/v1` }],
      Models: [
        { Id: "demo/echo", Upstreams: [{ Provider: "plain", Model: "echo-1", ...halfThePrice }], ...paid },
        {
          Id: "demo/picture",
          Kind: "image",
          Upstreams: [{ Provider: "plain", Model: "picture-1" }],
          FlatMicroUsd: 20_000
        },
        {
          Id: "demo/embedding",
          Kind: "embedding",
          Upstreams: [{ Provider: "plain", Model: "embedding-1", CostInputMicroUsdPerMillionTokens: 500_000 }],
          InputMicroUsdPerMillionTokens: 100_000_000
        }
      ],
      ...options.gateway
    },
    Payments: {
      SettleWaitSeconds: 5,
      Networks: [
        {
          Network: chain.network,
          RpcUrls: [chain.rpcUrl],
          Asset: chain.asset,
          PayTo: payTo,
          SettlerKeyEnvVars: names,
          ...options.network
        }
      ],
      ...options.payments
    },
    PaymentVerifier: { FacilitatorPort: 0, ...options.verifier },
    PaymentSettler: { SweepSeconds: 0.25, ReconcileSeconds: 1, BooksGraceSeconds: 20, ...options.settler }
  }
  const parts: Parts = { server, chain, upstream, configuration, environment }
  return { ...parts, ...(yield* keptBy(options.signer ?? "environment", options.configure?.(parts) ?? parts)) }
})

const roleOf = (role: keyof typeof layers, { server, configuration, environment }: Parts, beside: Layer.Layer<never>) =>
  (layers[role] as (typeof layers)["model-gateway"]).pipe(
    Layer.provideMerge(Layer.mergeAll(ConfiguredHttp.layer, UntrustedHttp.layer)),
    Layer.provideMerge(Drain.layer),
    Layer.provideMerge(busOn(server)),
    Layer.provideMerge(Addresses.layer),
    Layer.provideMerge(Health.layer),
    Layer.provideMerge(Configuration.layerOf(configuration)),
    Layer.provideMerge(Layer.succeed(Environment, environment)),
    Layer.provideMerge(Layer.succeed(Role, role)),
    Layer.provideMerge(beside),
    Layer.fresh
  )

/** Runs a test against all of it. */
export const withPayments = <A, E>(
  test: (fleet: PaymentFleet) => Effect.Effect<A, E, Scope.Scope>,
  options: PaymentFleetOptions = {}
) =>
  Effect.gen(function* () {
    const parts = yield* startParts(options)
    const urls = new Map<string, string>()
    const gateways: Array<string> = []
    const texts: Array<Effect.Effect<string>> = []
    const ready: Record<string, Effect.Effect<HealthReport>> = {}
    const beside =
      options.hasLocalTransport === true
        ? Layer.succeedContext(yield* Layer.build(Layer.mergeAll(localTransport, localSettlers)))
        : Layer.empty
    const start = Effect.fnUntraced(function* (role: RoleName, changed: Json = parts.configuration) {
      const context = yield* Layer.build(
        roleOf(role as keyof typeof layers, { ...parts, configuration: changed }, beside)
      )
      yield* Effect.gen(function* () {
        for (const [name, url] of yield* (yield* Addresses).all) {
          if (name === "model-gateway") gateways.push(url)
          urls.set(name, url)
        }
        texts.push((yield* Metrics).text)
        const health = yield* Health
        yield* health.started
        ready[role] = health.ready
      }).pipe(Effect.provideContext(context))
    })
    const roles = options.roles ?? ["payment-verifier", "payment-settler", "model-gateway"]
    yield* Effect.forEach(roles, (role) => start(role), { concurrency: "unbounded" })
    const books = yield* paymentAccountsOf(parts)
    const fleet: PaymentFleet = {
      ...parts,
      ...books,
      start,
      readiness: Effect.suspend(() => Effect.all(ready)),
      gateways: () => gateways,
      url: urls.get("model-gateway") ?? "",
      facilitator: urls.get("payment-verifier") ?? "",
      metrics: Effect.map(Effect.all(texts), (all) => all.join("\n"))
    }
    return yield* test(fleet)
  }).pipe(Effect.scoped)

/** Until transfers, receipts and settled claims are as many, and nothing is on its way; the number of them. */
export const balanced = (fleet: Pick<PaymentFleet, "receipts" | "transfers" | "claimStates">) =>
  Effect.gen(function* () {
    const states = yield* fleet.claimStates
    const settled = (yield* fleet.receipts).filter(({ outcome }) => outcome === "settled")
    const transfers = (yield* fleet.transfers).length
    const keys = new Set(settled.map(({ claimKey }) => claimKey)).size
    return { states, receipts: settled.length, keys, transfers }
  }).pipe(
    // What nobody knows the outcome of is looked up again after its lease.
    (books) => eventually(books, { is: isBalanced, withinMs: 60_000 }),
    Effect.map(({ transfers }) => transfers)
  )

const open: ReadonlyArray<ClaimState> = ["CLAIMED", "SERVING", "SETTLING"]

interface Books {
  readonly states: ReadonlyArray<ClaimState>
  readonly receipts: number
  readonly keys: number
  readonly transfers: number
}

const isBalanced = ({ states, receipts, keys, transfers }: Books) =>
  !states.some((state) => open.includes(state)) &&
  [receipts, transfers, states.filter((state) => state === "SETTLED").length].every((count) => count === keys)
