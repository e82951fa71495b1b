/** The scheme on a local chain, as tests use it. */
import { assert, it } from "@effect/vitest"
import { getBase58Encoder } from "@solana/kit"
import { Effect, Layer, Result } from "effect"
import type { PaymentRequirements } from "#payments/contract"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { readSettlerKey, type SvmScheme } from "#payments"
import {
  type LocalSolana,
  type LocalSolanaChainOptions,
  startLocalSolanaChain
} from "../../../../../dev/chain/solana/LocalSolanaChain.ts"
import { openSvmScheme, type SvmOptions } from "../../../../../libs/payments/chains/solana/exact-svm.ts"
import { base64Of, payloadOf, signerOfSeed } from "./transactions.ts"
import { limits, type PaymentDraft, paymentMaker, type Scene } from "./vectors.ts"

export const egress = ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest))

export const openScheme = (chain: LocalSolana, options: Partial<SvmOptions> = {}) =>
  openSvmScheme({
    network: chain.network,
    asset: chain.mint,
    payTo: chain.payTo.address,
    feePayers: chain.feePayers.map(({ address }) => address),
    rpcUrls: [chain.rpcUrl],
    limits,
    settle: { pollMs: 10, resendMs: 50, deadlineMs: 20_000 },
    ...options
  })

const signerOfAccount = ({ secretKey }: { readonly secretKey: string }) =>
  signerOfSeed(Uint8Array.from(getBase58Encoder().encode(secretKey)).slice(0, 32))

export const sceneOf = (chain: LocalSolana): Scene => {
  const [feePayer, otherFeePayer] = chain.feePayers
  if (feePayer === undefined || otherFeePayer === undefined) throw new Error("two fee payers are needed")
  return {
    blockhash: chain.bank.blockhashes.latest().blockhash,
    payTo: chain.payTo.address,
    feePayer: signerOfAccount(feePayer),
    otherFeePayer: signerOfAccount(otherFeePayer),
    payer: signerOfAccount(chain.payer)
  }
}

/** A chain, the scheme on it, and transactions of its funded payer. */
export const startScene = Effect.fn("startScene")(function* (
  chainOptions: LocalSolanaChainOptions = {},
  options: Partial<SvmOptions> = {}
) {
  const chain = yield* startLocalSolanaChain({ seed: "tests", ...chainOptions })
  const scheme = yield* openScheme(chain, options)
  const scene = sceneOf(chain)
  const make = yield* Effect.promise(() => paymentMaker(scene))
  return { chain, scheme, scene, make }
})

/** A local chain with a payer, a receiver and the scheme under test, and payments as they come from a caller. */

export const checkedFrom = (
  scheme: SvmScheme,
  wire: Uint8Array,
  requirements: PaymentRequirements,
  nowMs = Date.now()
) => {
  const result = scheme.check(payloadOf(base64Of(wire), requirements), requirements, nowMs)
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.reason : "")
  return result.success
}

export const leaseOf = (chain: LocalSolana, index = 0) => ({
  key: Result.getOrThrow(readSettlerKey(chain.network, chain.feePayers[index]?.secretKey ?? "")),
  nonce: null
})

/** A payment before any call to the chain. */
export const scene = Effect.fnUntraced(function* (draft: PaymentDraft = {}, ...options: Parameters<typeof startScene>) {
  const started = yield* startScene(...options)
  const { chain, make, scheme } = started
  const pay = (one: PaymentDraft = draft, nowMs?: number) =>
    checkedFrom(scheme, make.wire(one), make.requirements(), nowMs)
  const settle = Effect.fnUntraced(function* (checked: ReturnType<typeof pay>) {
    return yield* scheme.broadcast(yield* scheme.prepare(checked, leaseOf(chain)), checked)
  })
  return { ...started, pay, settle, lease: leaseOf(chain) }
})

export const live = (name: string, test: () => Effect.Effect<void, unknown, never>) => it.live(name, test)

export const codeOf = (result: Result.Result<unknown, { readonly _tag: string; readonly code?: string }>) =>
  Result.isFailure(result) ? (result.failure.code ?? result.failure._tag) : "fine"

export const inScope = <A, E>(effect: Effect.Effect<A, E, Effect.Services<ReturnType<typeof scene>>>) =>
  effect.pipe(Effect.scoped, Effect.provide(egress))
