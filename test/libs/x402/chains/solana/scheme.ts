/** The scheme on a local chain, as tests use it. */
import { Effect, Layer } from "effect"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import {
  type LocalSolana,
  type LocalSolanaChainOptions,
  startLocalSolanaChain
} from "../../../../../dev/chain/solana/LocalSolanaChain.ts"
import { openSvmScheme, type SvmOptions } from "../../../../../libs/x402/chains/solana/exact-svm.ts"
import { signerOfSeed } from "./transactions.ts"
import { limits, paymentMaker, type Scene } from "./vectors.ts"
import { getBase58Encoder } from "@solana/kit"

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

export const signerOfAccount = ({ secretKey }: { readonly secretKey: string }) =>
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
