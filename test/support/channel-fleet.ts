/** A paid gateway of a test's own that also takes payments by channel, and what tests do to its channels. */
import { Effect, Layer, Schema, type Scope } from "effect"
import { createWalletClient, http, parseAbi, publicActions } from "viem"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import { ChannelPayload } from "#payments/contract"
import { ConfiguredHttp } from "#egress"
import { Metrics } from "#runtime"
import { type ChannelContract, channelsAddress, openChannelContract } from "#payments"
import type { LocalChain } from "../../dev/chain/evm/LocalEvmChain.ts"
import { type PaymentFleet, type PaymentFleetOptions, withPayments } from "./payment-fleet.ts"

const withdrawDelay = 900

export interface ChannelFleet extends PaymentFleet {
  /** The address whose key signs claims and refunds. */
  readonly authorizer: string
  /** Of an offer. */
  readonly extra: {
    readonly receiverAuthorizer: string
    readonly withdrawDelay: number
    readonly name: string
    readonly version: string
  }
  readonly contract: Effect.Effect<ChannelContract, never, Scope.Scope>
  /** Transactions of the settlers that were made, by kind. */
  readonly transactionsOf: (kind: "claim" | "sweep") => Effect.Effect<number>
  /** A payer's word that its channel was charged so much, for a refund. */
  readonly refundVoucher: (
    payer: PrivateKeyAccount,
    payload: ChannelPayload,
    charged: string
  ) => Effect.Effect<ChannelPayload>
}

/** The options of a fleet that also takes payments by channel, and whose key signs for the receiver. */
export const channelOptions = (options: PaymentFleetOptions = {}, terms: Readonly<Record<string, unknown>> = {}) => {
  const key = generatePrivateKey()
  const authorizer = privateKeyToAccount(key).address
  const configure: PaymentFleetOptions["configure"] = (parts) => {
    const { configuration, environment } = options.configure?.(parts) ?? parts
    const channels = {
      Network: parts.chain.network,
      ReceiverAuthorizer: authorizer,
      AuthorizerKeyEnvVar: "TEST_CHANNEL_AUTHORIZER",
      WithdrawDelaySeconds: withdrawDelay,
      ...terms
    }
    const payments = { ...(configuration["Payments"] as object), Channels: [channels] }
    return {
      configuration: { ...configuration, Payments: payments },
      environment: { ...environment, TEST_CHANNEL_AUTHORIZER: key }
    }
  }
  const settler = { ChannelWatchSeconds: 0.1, ...options.settler }
  return { authorizer, options: { ...options, settler, configure } }
}

export const withChannels = <A, E>(
  test: (fleet: ChannelFleet) => Effect.Effect<A, E, Scope.Scope>,
  given: PaymentFleetOptions = {},
  terms: Readonly<Record<string, unknown>> = {}
) => {
  const { authorizer, options } = channelOptions(given, terms)
  return withPayments((fleet) => test(channelFleet(fleet, authorizer)), options)
}

const channelFleet = (fleet: PaymentFleet, authorizer: string): ChannelFleet => ({
  ...fleet,
  authorizer,
  extra: { receiverAuthorizer: authorizer, withdrawDelay, name: "USDC", version: "2" },
  contract: openChannelContract({ network: fleet.chain.network, rpcUrls: [fleet.chain.rpcUrl] }).pipe(
    Effect.provide(ConfiguredHttp.layer.pipe(Layer.provideMerge(Metrics.layerTest)))
  ),
  transactionsOf: (kind) =>
    Effect.map(fleet.metrics, (text) => {
      const lines = text.matchAll(/^payment_channel_transactions_total\{([^}]*)\} ([0-9]+)$/gmu)
      return [...lines]
        .filter(([, labels]) => labels?.includes(`kind="${kind}"`) === true && labels.includes('outcome="made"'))
        .reduce((sum, [, , count]) => sum + Number(count), 0)
    }),
  refundVoucher: (payer, payload, charged) =>
    Effect.promise(async () => {
      const { channelId } = payload.voucher
      const signature = await payer.signTypedData({
        domain: {
          name: "x402 Batch Settlement",
          version: "1",
          chainId: fleet.chain.chainId,
          verifyingContract: channelsAddress
        },
        types: {
          Voucher: [
            { name: "channelId", type: "bytes32" },
            { name: "maxClaimableAmount", type: "uint128" }
          ]
        },
        primaryType: "Voucher",
        message: { channelId: channelId as `0x${string}`, maxClaimableAmount: BigInt(charged) }
      })
      return Schema.decodeUnknownSync(ChannelPayload)({
        type: "refund",
        channelConfig: payload.channelConfig,
        voucher: { channelId, maxClaimableAmount: charged, signature }
      })
    })
})

const abi = parseAbi([
  "struct ChannelConfig { address payer; address payerAuthorizer; address receiver; address receiverAuthorizer; address token; uint40 withdrawDelay; bytes32 salt; }",
  "function initiateWithdraw(ChannelConfig config, uint128 amount)",
  "function finalizeWithdraw(ChannelConfig config)"
])

/** A payer's own transaction to the contract; "done", or why it was refused. */
export const sendAs = (
  chain: Pick<LocalChain, "rpc" | "rpcUrl">,
  account: PrivateKeyAccount,
  functionName: "initiateWithdraw" | "finalizeWithdraw",
  args: ReadonlyArray<unknown>
) =>
  Effect.gen(function* () {
    yield* chain.rpc("anvil_setBalance", [account.address, "0xde0b6b3a7640000"])
    const transport = http(chain.rpcUrl, { retryCount: 0 })
    const wallet = createWalletClient({ account, chain: baseSepolia, transport, pollingInterval: 10 })
    return yield* Effect.promise(async () => {
      const client = wallet.extend(publicActions)
      const call = { address: channelsAddress, abi, functionName, args } as never
      try {
        await client.simulateContract(call)
        const { status } = await client.waitForTransactionReceipt({ hash: await client.writeContract(call) })
        return status === "success" ? "done" : status
      } catch (error) {
        return String(error)
      }
    })
  })
