/** The configuration of the containerised roles: the outside world is another container. */
import { localEvmAsset, localEvmChainId } from "../../dev/chain/evm/LocalEvmChain.ts"
import { localAccount } from "../../dev/chain/evm/accounts.ts"
import { localAccount as localSolanaAccount } from "../../dev/chain/solana/accounts.ts"
import { localSolanaMint, localSolanaNetwork } from "../../dev/chain/solana/LocalSolanaChain.ts"
import { everyEvent, hookSecret, payTo, settlerCount, slowEvents, worldPorts, worldSeed } from "./world-places.ts"

const feePayer = localSolanaAccount(worldSeed, "fee payer 0")
const feePayerVariable = "SETTLER_SOLANA"
const settlerVariables = Array.from({ length: settlerCount }, (_, index) => `SETTLER_${index}`)

/** Of a fleet that knows the outside world by that name. */
export const configurationWith = (world: string) => ({
  Webhooks: [
    {
      Name: "books",
      Url: `http://${world}:${worldPorts.hooks}${everyEvent}`,
      SecretEnvVar: "HOOK_SECRET",
      EventFilter: ["*"],
      MaxAttempts: 10
    },
    {
      Name: "slow",
      Url: `http://${world}:${worldPorts.hooks}${slowEvents}`,
      SecretEnvVar: "HOOK_SECRET",
      EventFilter: ["sandbox.leak_disposed"]
    }
  ],
  WebhookDelivery: { AllowCidrs: ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"] },
  ModelGateway: {
    Providers: [{ Name: "demo", BaseUrl: `http://${world}:${worldPorts.models}/v1` }],
    Models: [
      {
        Id: "demo/echo",
        Upstreams: [{ Provider: "demo", Model: "demo/echo" }],
        InputMicroUsdPerMillionTokens: 1_000_000,
        OutputMicroUsdPerMillionTokens: 2_000_000
      }
    ]
  },
  Payments: {
    LeaseSeconds: 3,
    Networks: [
      {
        Network: `eip155:${localEvmChainId}`,
        RpcUrls: [`http://${world}:${worldPorts.evm}`],
        Asset: localEvmAsset,
        PayTo: payTo,
        SettlerKeyEnvVars: settlerVariables
      }
    ]
  },
  PaymentSettler: { ReconcileSeconds: 5, BooksGraceSeconds: 60 }
})

/** As containers on one network call it. */
const besideUs = "world"

export const configuration = configurationWith(besideUs)

export const secrets: Readonly<Record<string, string>> = {
  HOOK_SECRET: hookSecret,
  ...Object.fromEntries(
    settlerVariables.map((variable, index) => [variable, localAccount(worldSeed, `settler ${index}`).privateKey])
  )
}

/** The same with a second chain to be paid on. */
export const withSolanaIn = (world: string) => {
  const onOneChain = configurationWith(world)
  const solana = {
    Network: localSolanaNetwork,
    RpcUrls: [`http://${world}:${worldPorts.solana}`],
    Asset: localSolanaMint,
    PayTo: localSolanaAccount(worldSeed, "payee").address,
    FeePayer: feePayer.address,
    SettlerKeyEnvVars: [feePayerVariable]
  }
  return { ...onOneChain, Payments: { ...onOneChain.Payments, Networks: [...onOneChain.Payments.Networks, solana] } }
}

export const withSolana = withSolanaIn(besideUs)

export const secretsWithSolana: Readonly<Record<string, string>> = {
  ...secrets,
  [feePayerVariable]: feePayer.secretKey
}
