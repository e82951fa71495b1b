/** The widely used facilitator scheme on the same chain, as the measure of what others say of a payment. */
import { x402Facilitator } from "@x402/core/facilitator"
import { toFacilitatorEvmSigner } from "@x402/evm"
import { ExactEvmScheme } from "@x402/evm/exact/facilitator"
import type { PaymentPayload, PaymentRequirements } from "#contracts"
import { createWalletClient, http, publicActions } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { baseSepolia } from "viem/chains"
import type { LocalChain } from "../../../../dev/chain/evm/LocalEvmChain.ts"
import { network } from "./payments.ts"

export interface StockFacilitator {
  /** "valid", the reason of the refusal, or "throws". */
  readonly verdict: (payload: PaymentPayload, requirements: PaymentRequirements) => Promise<string>
  readonly settle: (
    payload: PaymentPayload,
    requirements: PaymentRequirements
  ) => Promise<{ readonly success: boolean }>
}

export const stockFacilitator = (chain: LocalChain, settler = 1): StockFacilitator => {
  const account = privateKeyToAccount(chain.settlers[settler]?.privateKey ?? "0x")
  const client = createWalletClient({
    account,
    chain: baseSepolia,
    transport: http(chain.rpcUrl, { retryCount: 0 }),
    pollingInterval: 10,
    cacheTime: 0
  }).extend(publicActions)
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: (call) => client.readContract(call as Parameters<typeof client.readContract>[0]),
    verifyTypedData: (call) => client.verifyTypedData(call as Parameters<typeof client.verifyTypedData>[0]),
    writeContract: (call) => client.writeContract(call as unknown as Parameters<typeof client.writeContract>[0]),
    sendTransaction: (call) => client.sendTransaction(call as unknown as Parameters<typeof client.sendTransaction>[0]),
    waitForTransactionReceipt: (call) => client.waitForTransactionReceipt(call),
    getCode: (call) => client.getCode(call)
  })
  const facilitator = new x402Facilitator().register(network, new ExactEvmScheme(signer))
  type Payload = Parameters<typeof facilitator.verify>[0]
  type Requirements = Parameters<typeof facilitator.verify>[1]
  return {
    verdict: async (payload, requirements) => {
      try {
        const answer = await facilitator.verify(payload as Payload, requirements as Requirements)
        return answer.isValid ? "valid" : (answer.invalidReason ?? "refused without a reason")
      } catch {
        return "throws"
      }
    },
    settle: (payload, requirements) => facilitator.settle(payload as Payload, requirements as Requirements)
  }
}
