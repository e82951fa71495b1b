/** The local world as the configuration and the environment of the roles. Pure. */
import { type ChainsReport, roleNames } from "#contracts"
import type { LocalWorld } from "./LocalWorld.ts"

type World = LocalWorld["Service"]

const provider = "demo"
const settlerVariable = (index: number) => `STARLING_LOCAL_SETTLER_${index}`
const feePayerVariable = "STARLING_LOCAL_FEE_PAYER"

const via = (model: string) => ({ Upstreams: [{ Provider: provider, Model: model }] })
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
  { Id: "demo/picture", Kind: "image", Description: "One small picture.", ...via("demo/picture"), FlatMicroUsd: 20_000 }
]

const networks = ({ evm, solana }: World) => [
  ...(evm === undefined
    ? []
    : [
        {
          Network: evm.chain.network,
          RpcUrls: [evm.chain.rpcUrl],
          Asset: evm.chain.asset,
          PayTo: evm.payTo,
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

/** The defaults below the file: only what the file does not set itself. */
export const localDefaults = (world: World) => {
  const offered = networks(world)
  return {
    Fleet: { Roles: roleNames },
    ...(offered.length === 0 ? {} : { Payments: { Networks: offered } }),
    ...(world.upstreamUrl === undefined
      ? {}
      : { ModelGateway: { Providers: [{ Name: provider, BaseUrl: `${world.upstreamUrl}/v1` }], Models: models } })
  }
}

/** The settlers' keys on the local chains. */
export const localKeys = ({ evm, solana }: World): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(
    (evm?.chain.settlers ?? []).map(({ privateKey }, index) => [settlerVariable(index), privateKey])
  ),
  ...(solana === undefined ? {} : { [feePayerVariable]: solana.feePayer.secretKey })
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
