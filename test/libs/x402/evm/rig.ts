/** A local chain with our scheme on it, and what the tests do to both. One per file; ended with it. */
import { Effect, Exit, Layer, Result, Scope } from "effect"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import type { PaymentPayload, PaymentRequirements } from "#contracts"
import {
  type LocalChain,
  type LocalEvmChainOptions,
  startLocalEvmChain
} from "../../../../dev/chain/evm/LocalEvmChain.ts"
import { type EvmOptions, type EvmScheme, openEvmScheme } from "../../../../libs/x402/evm/exact-evm.ts"
import type { SettlerLease } from "../../../../libs/x402/scheme.ts"
import { asset, network, newPayer, payment, payTo, requirementsOf } from "./payments.ts"

export interface Rig {
  readonly chain: LocalChain
  readonly scheme: EvmScheme
  readonly run: <A, E>(effect: Effect.Effect<A, E, Scope.Scope | ConfiguredHttp | Metrics>) => Promise<A>
  /** Another scheme on the same chain, with other nodes or settings. */
  readonly schemeWith: (options: Partial<EvmOptions>) => Promise<EvmScheme>
  readonly nowMs: () => Promise<number>
  /** A lease of a settler's key with the account's next nonce. */
  readonly lease: (settler?: number) => Promise<SettlerLease>
  readonly end: () => Promise<void>
}

const services = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

export const startRig = async (
  chainOptions: LocalEvmChainOptions = {},
  schemeOptions: Partial<EvmOptions> = {}
): Promise<Rig> => {
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(services, scope))
  const run: Rig["run"] = (effect) =>
    Effect.runPromise(effect.pipe(Effect.provideService(Scope.Scope, scope), Effect.provideContext(context)))
  const chain = await run(startLocalEvmChain(chainOptions))
  const schemeWith = (options: Partial<EvmOptions>) =>
    run(openEvmScheme({ network, asset, payTo, rpcUrls: [chain.rpcUrl], ...schemeOptions, ...options }))
  const scheme = await schemeWith({})
  return {
    chain,
    scheme,
    run,
    schemeWith,
    nowMs: async () => Number((await run(scheme.node.block("latest"))).timestamp) * 1_000,
    lease: async (settler = 0) => {
      const account = chain.settlers[settler]
      const key = Result.getOrThrow(scheme.readKey(account?.privateKey ?? ""))
      return { key, nonce: await run(scheme.accountNonce(key.address)) }
    },
    end: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

/** The checked payment; fails when the checks refuse it. */
export const checked = (scheme: EvmScheme, payload: PaymentPayload, requirements: PaymentRequirements, nowMs: number) =>
  Result.getOrThrow(scheme.check(payload, requirements, nowMs))

/** Of a new payer who has just as much, signed now and checked. */
export const goodPayment = async (rig: Rig) => {
  const payer = newPayer()
  const requirements = requirementsOf()
  await rig.run(rig.chain.fund(payer.address, 25_685n))
  const nowMs = Date.now()
  const payload = await payment(payer, requirements, { nowSeconds: Math.floor(nowMs / 1_000) })
  return checked(rig.scheme, payload, requirements, nowMs)
}
