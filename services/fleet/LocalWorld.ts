/**
 * The local stand-in for the outside world, used when nothing is configured: two chains with funded payers, and a
 * provider of models; and the configuration and environment that the roles get from it. Each chain is a process of its
 * own, so that neither its crash nor its work stops the fleet; one that does not start is left out, and its payments
 * with it. Payers stay the same in one home; the payees are new on each start, like the chains.
 */
import { randomBytes } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Context, Deferred, Effect, Layer, Redacted, Result, Schema, type Scope } from "effect"
import { type ChainsReport, roleNames } from "#base"
import { isJson, type Json } from "#configuration"
import { type LocalAccount, localAccount, type LocalChain, solanaProgram, startLocalEvmChain } from "#dev/chain"
import { startLocalUpstream } from "#dev/upstream"
import { Environment, readTextFile, Secrets, startChild } from "#runtime"
import type { TrialPayers } from "#payments"
import type { FleetSettings } from "./home.ts"

interface LocalEvm {
  readonly chain: LocalChain
  /** Receives payments, and pays refunds. */
  readonly payee: LocalAccount
  /** Signs for the receiver of payment channels; constant in one home, because it is part of every channel. */
  readonly authorizer: LocalAccount
}

export class LocalWorld extends Context.Service<
  LocalWorld,
  {
    readonly evm: LocalEvm | undefined
    readonly solana: LocalSolana | undefined
    readonly upstreamUrl: string | undefined
  }
>()("starling/fleet/LocalWorld") {
  static readonly layer = (settings: FleetSettings) => Layer.effect(LocalWorld, start(settings))
}

const start = Effect.fn("LocalWorld.start")(function* (settings: FleetSettings) {
  const environment = yield* Environment
  const { hasNetworks, hasModels, roles } = yield* configuredParts(settings.configPath, environment)
  const isPaid = ["model-gateway", "payment-verifier", "payment-settler"].some((role) => roles.includes(role))
  const isServed = roles.includes("model-gateway")
  const seed = yield* Effect.promise(() => seedOf(settings.home))
  const payeeSeed = randomBytes(16).toString("hex")
  const nothing = Effect.undefined
  const [evm, solana, upstream] = yield* Effect.all(
    [
      isPaid && !hasNetworks ? optional("EVM chain", startEvm(seed, payeeSeed, settings.evmPort)) : nothing,
      isPaid && !hasNetworks
        ? optional("Solana chain", startLocalSolana(seed, payeeSeed, settings.solanaPort))
        : nothing,
      isServed && !hasModels ? optional("upstream", startLocalUpstream({ port: settings.upstreamPort })) : nothing
    ],
    { concurrency: "unbounded" }
  )
  const { add } = yield* Secrets
  for (const { privateKey } of evm?.chain.settlers ?? []) add(privateKey)
  if (evm !== undefined) for (const { privateKey } of [evm.authorizer, evm.payee]) add(privateKey)
  if (solana !== undefined) add(solana.feePayer.secretKey)
  return LocalWorld.of({ evm, solana, upstreamUrl: upstream?.url })
})

const startEvm = (seed: string, payeeSeed: string, port: number) =>
  Effect.map(startLocalEvmChain({ seed, port }), (chain) => ({
    chain,
    payee: localAccount(payeeSeed, "payee"),
    authorizer: localAccount(seed, "channel authorizer")
  }))

const optional = <A, E>(name: string, part: Effect.Effect<A, E, Scope.Scope>) =>
  part.pipe(
    Effect.tapError((error) => Effect.logWarning(`the local ${name} did not start, so it is left out`, error)),
    Effect.orElseSucceed(() => undefined)
  )

/** The seed of worthless keys; kept so that manually configured wallets keep working. */
const seedOf = async (home: string) => {
  const path = join(home, "chain-seed")
  const found = await readFile(path, "utf8").catch(() => "")
  if (found !== "") return found
  const made = randomBytes(16).toString("hex")
  await mkdir(home, { recursive: true })
  await writeFile(path, made, { mode: 0o600 })
  return made
}

const Account = Schema.Struct({ address: Schema.String, secretKey: Schema.String })

const LocalSolana = Schema.Struct({
  rpcUrl: Schema.String,
  network: Schema.String,
  mint: Schema.String,
  payTo: Schema.String,
  payer: Account,
  feePayer: Account
})
interface LocalSolana extends Schema.Schema.Type<typeof LocalSolana> {}

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(LocalSolana))
// Its native module loads in a tenth of a second on an idle machine.
const readyWithin = "10 seconds"

/**
 * The chain answers on the thread that it computes on. `port` 0 takes any free one. The payer depends on the seed, the
 * payee on a seed of its own.
 */
const startLocalSolana = Effect.fn("startLocalSolana")(function* (seed: string, payeeSeed: string, port: number) {
  const firstLine = yield* Deferred.make<string>()
  const child = yield* Effect.acquireRelease(
    startChild(process.execPath, [...process.execArgv, solanaProgram, seed, payeeSeed, String(port)], {
      onLine: (line) => void Deferred.doneUnsafe(firstLine, Effect.succeed(line))
    }),
    (child) => child.stop
  )
  const ended = Effect.flatMap(child.ended, (how) => Effect.fail(`it ended with ${how}`))
  const line = yield* Effect.raceFirst(Deferred.await(firstLine), ended).pipe(
    Effect.timeoutOrElse({ duration: readyWithin, orElse: () => Effect.fail("it did not say where it is in time") })
  )
  return yield* Effect.mapError(Effect.fromOption(decode(line)), () => "it printed something other than its address")
})

interface ConfiguredParts {
  readonly hasNetworks: boolean
  readonly hasModels: boolean
  readonly roles: ReadonlyArray<string>
}

const parsed = (text: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
const sectionOf = (file: unknown, name: string): Json => {
  const section = isJson(file) ? file[name] : undefined
  return isJson(section) ? section : {}
}
const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0

/**
 * The parts that the configuration file sets itself, read before it is checked; the local world fills in the rest. A
 * broken file yields nothing here; the check reports its faults.
 */
export const partsOf = (text: string, environment: Readonly<Record<string, string | undefined>>): ConfiguredParts => {
  const file = parsed(text)
  const gateway = sectionOf(file, "ModelGateway")
  const roles = parsed(environment["FLEET_ROLES"] ?? "") ?? sectionOf(file, "Fleet")["Roles"]
  return {
    hasNetworks: isFilled(sectionOf(file, "Payments")["Networks"]),
    hasModels: isFilled(gateway["Models"]) || isFilled(gateway["Providers"]),
    roles: Array.isArray(roles) ? roles.map(String) : roleNames
  }
}

export const configuredParts = (path: string, environment: Readonly<Record<string, string | undefined>>) =>
  readTextFile(path).pipe(
    Effect.orElseSucceed(() => ""),
    Effect.map((text) => partsOf(text, environment))
  )

type World = LocalWorld["Service"]

const provider = "demo"
const strictProvider = "demo-strict"
const claudeProvider = "demo-claude"
const reasonerProvider = "demo-reasoner"
const settlerVariable = (index: number) => `STARLING_LOCAL_SETTLER_${index}`
const authorizerVariable = "STARLING_LOCAL_CHANNEL_AUTHORIZER"
const refunderVariable = "STARLING_LOCAL_REFUNDER"
const feePayerVariable = "STARLING_LOCAL_FEE_PAYER"

const via = (model: string, more: Readonly<Record<string, string>> = {}) => ({
  Upstreams: [{ Provider: provider, Model: model, ...more }]
})
const perToken = { InputMicroUsdPerMillionTokens: 1_000_000, OutputMicroUsdPerMillionTokens: 3_000_000 }

const models = [
  { Id: "demo/echo", Description: "Says what you say, word by word.", ...via("demo/echo"), ...perToken },
  { Id: "demo/free", Description: "As demo/echo, for nothing.", ...via("demo/free"), Free: true },
  {
    Id: "demo/nostream",
    Description: "As demo/echo, in one piece.",
    ...via("demo/nostream"),
    ...perToken,
    Streams: false
  },
  {
    Id: "demo/strict",
    Description: "As demo/echo; refuses what OpenAI's models refuse.",
    ...via("demo/strict", { Provider: strictProvider }),
    ...perToken
  },
  {
    Id: "demo/strict-claude",
    Description: "As demo/echo; refuses what Claude refuses, and thinks when asked.",
    ...via("demo/strict-claude", { Provider: claudeProvider }),
    ...perToken
  },
  {
    Id: "demo/reasoner",
    Description: "As demo/echo; thinks first, and wants its thoughts back with its calls.",
    ...via("demo/reasoner", { Provider: reasonerProvider, MaxTokensParameter: "max_completion_tokens" }),
    ...perToken
  },
  {
    Id: "demo/picture",
    Kind: "image",
    Description: "One small picture.",
    ...via("demo/picture"),
    FlatMicroUsd: 20_000
  },
  {
    Id: "demo/embedding",
    Kind: "embedding",
    Description: "Vectors of eight numbers, the same for the same text.",
    ...via("demo/embedding"),
    InputMicroUsdPerMillionTokens: 1_000_000,
    ContextTokens: 8_192
  }
]

const networks = ({ evm, solana }: World) => [
  ...(evm === undefined
    ? []
    : [
        {
          Network: evm.chain.network,
          RpcUrls: [evm.chain.rpcUrl],
          Asset: evm.chain.asset,
          PayTo: evm.payee.address,
          Schemes: ["exact", "upto"],
          FacilitatorAddresses: evm.chain.settlers.map(({ address }) => address),
          SettlerKeyEnvVars: evm.chain.settlers.map((_, index) => settlerVariable(index))
        }
      ]),
  ...(solana === undefined
    ? []
    : [
        {
          Network: solana.network,
          RpcUrls: [solana.rpcUrl],
          Asset: solana.mint,
          PayTo: solana.payTo,
          FeePayer: solana.feePayer.address,
          SettlerKeyEnvVars: [feePayerVariable]
        }
      ])
]

/** Offered last: clients that know only channels take them. Also names who pays refunds. */
const channels = ({ evm }: World) =>
  evm === undefined
    ? {}
    : {
        Refunds: [{ Network: evm.chain.network, Account: evm.payee.address, KeyEnvVar: refunderVariable }],
        Channels: [
          {
            Network: evm.chain.network,
            ReceiverAuthorizer: evm.authorizer.address,
            AuthorizerKeyEnvVar: authorizerVariable
          }
        ]
      }

/** The configuration that `up` runs on. It lies below the configuration file, which overrides it. */
export const localDefaults = (world: World) => {
  const offered = networks(world)
  const at = { BaseUrl: `${world.upstreamUrl}/v1` }
  return {
    Fleet: { Roles: roleNames },
    ...(offered.length === 0 ? {} : { Payments: { Networks: offered, ...channels(world) } }),
    ...(world.upstreamUrl === undefined
      ? {}
      : {
          ModelGateway: {
            Providers: [
              { Name: provider, ...at },
              { Name: strictProvider, ...at, Parameters: "openai", Thoughts: "none" },
              { Name: reasonerProvider, ...at, Parameters: "common", Thoughts: "required" },
              { Name: claudeProvider, ...at, Kind: "anthropic" }
            ],
            Models: models,
            // A user trying a call checks its result at once.
            UptimeWriteSeconds: 2
          }
        })
  }
}

/** The settlers' keys on the local chains. */
export const localKeys = ({ evm, solana }: World): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    (evm?.chain.settlers ?? []).map(({ privateKey }, index) => [settlerVariable(index), privateKey])
  ),
  ...(evm === undefined
    ? {}
    : { [authorizerVariable]: evm.authorizer.privateKey, [refunderVariable]: evm.payee.privateKey }),
  ...(solana === undefined ? {} : { [feePayerVariable]: solana.feePayer.secretKey })
})

/** The payers of trials: those of the local chains. */
export const localPayers = ({ evm, solana }: World): typeof TrialPayers.Service => ({
  ...(evm === undefined ? {} : { evm: { rpcUrl: evm.chain.rpcUrl, key: Redacted.make(evm.chain.payer.privateKey) } }),
  ...(solana === undefined ? {} : { solana: { rpcUrl: solana.rpcUrl, key: Redacted.make(solana.payer.secretKey) } })
})

/** The facts that a payer on the local chains needs; undefined without any chain. */
export const chainsReport = ({ evm, solana }: World): ChainsReport | undefined =>
  evm === undefined && solana === undefined
    ? undefined
    : {
        ...(evm === undefined
          ? {}
          : {
              evm: {
                rpc: evm.chain.rpcUrl,
                chainId: evm.chain.chainId,
                asset: evm.chain.asset,
                payer: evm.chain.payer
              }
            }),
        ...(solana === undefined ? {} : { solana: { rpc: solana.rpcUrl, payer: solana.payer } })
      }
