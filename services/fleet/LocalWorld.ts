/**
 * What stands for the outside world when nothing is configured: two chains with funded payers, and a provider of
 * models. Each chain is a process of its own, so that neither its crash nor its work stops the fleet; one that does
 * not start is left out, and its payments with it. Payers stay the same in one home; who is paid is new with
 * each start, as the chains are.
 */
import { randomBytes } from "node:crypto"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { Context, Effect, Layer, type Scope } from "effect"
import { Environment, Secrets } from "#runtime"
import { type LocalChain, localAccount, startLocalEvmChain } from "#dev/chain"
import { startLocalUpstream } from "#dev/upstream"
import { configuredParts } from "./configured-parts.ts"
import { type LocalSolana, startLocalSolana } from "./local-solana.ts"
import type { FleetSettings } from "./settings.ts"

export interface LocalEvm {
  readonly chain: LocalChain
  readonly payTo: string
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
  if (solana !== undefined) add(solana.feePayer.secretKey)
  return LocalWorld.of({ evm, solana, upstreamUrl: upstream?.url })
})

const startEvm = (seed: string, payeeSeed: string, port: number) =>
  Effect.map(startLocalEvmChain({ seed, port }), (chain) => ({
    chain,
    payTo: localAccount(payeeSeed, "payee").address
  }))

const optional = <A, E>(name: string, part: Effect.Effect<A, E, Scope.Scope>) =>
  part.pipe(
    Effect.tapError((error) => Effect.logWarning(`the local ${name} did not start, so it is left out`, error)),
    Effect.orElseSucceed(() => undefined)
  )

/** Worth nothing; kept so that wallets filled in by hand go on working. */
const seedOf = async (home: string) => {
  const path = join(home, "chain-seed")
  const found = await readFile(path, "utf8").catch(() => "")
  if (found !== "") return found
  const made = randomBytes(16).toString("hex")
  await mkdir(home, { recursive: true })
  await writeFile(path, made, { mode: 0o600 })
  return made
}
