/**
 * The scheme `upto` on EVM chains: the payer signs the maximum cost of a call, and the account that it names transfers
 * the actual cost, by Permit2 and its proxy. It shares its chain with `exact`. The scheme stores nothing about any
 * payment.
 */
import { Effect, Result } from "effect"
import type { PaymentScheme } from "../../../scheme.ts"
import type { EvmNode } from "../EvmNode.ts"
import type { EvmPrepared } from "../payment.ts"
import { permitDomain } from "../permit2.ts"
import { sendForReceipt, type SendOptions } from "../send.ts"
import { chainIdOf, type EvmSettings } from "../settings.ts"
import { type DeployedContracts, refused } from "../simulate.ts"
import { funds } from "../token.ts"
import { prepareCall, type Preparation } from "../transaction.ts"
import { checkUptoPayment, type UptoPayment } from "./payment.ts"
import { uptoProxyAddress } from "./proxy.ts"
import { broadcastUpto, lookForUpto } from "./settle.ts"
import { callDataOf, simulateUpto } from "./simulate.ts"

export interface UptoEvmScheme extends PaymentScheme<UptoPayment, EvmPrepared> {}

/** What the schemes of one chain share. */
export interface SharedChain {
  readonly node: EvmNode
  readonly contracts: DeployedContracts
  readonly preparation: Preparation
  readonly sending: EvmSettings & SendOptions
}

// A transfer by the proxy takes about 130,000 for a key and 60,000 more for an approval; a contract wallet adds its own
// check. Unused gas is not paid for.
const settleGas = 400_000n

// A wallet's proxy and its set-up take about 200,000 to 500,000.
const deploymentGas = 1_500_000n

export const uptoEvmScheme = ({ node, contracts, preparation, sending }: SharedChain): UptoEvmScheme => {
  const { network, marginSeconds, facilitators } = sending
  const walletFactories = sending.walletFactories.map((address) => address.toLowerCase())
  const simulation = { node, contracts, walletFactories }
  const checking = {
    network,
    domain: permitDomain(chainIdOf(network)),
    facilitators: facilitators.map((address) => address.toLowerCase()),
    marginSeconds,
    isSignatureKnown: false
  }
  const checkingAgain = { ...checking, isSignatureKnown: true }
  return {
    check: (payload, requirements, nowMs) => checkUptoPayment(payload, requirements, nowMs, checking),
    checkAgain: (payload, requirements, nowMs) => checkUptoPayment(payload, requirements, nowMs, checkingAgain),
    charging: (checked, charge) =>
      charge >= 0n && charge <= checked.amount
        ? Result.succeed({ ...checked, charge })
        : Result.fail(refused("invalid_upto_evm_payload_settlement_exceeds_amount", checked.payer)),
    simulate: (checked) => simulateUpto(simulation, checked),
    funds: (checked, claimKeys) => funds(node, checked, claimKeys),
    recheck: (checked) => simulateUpto(simulation, checked),
    prerequisite: {
      isNeeded: ({ deployment, payer }) =>
        deployment !== null && walletFactories.includes(deployment.factory)
          ? Effect.map(node.hasCode(payer), (isThere) => !isThere)
          : Effect.succeed(false),
      prepare: ({ deployment }, lease) => {
        const { factory: to, data } = deployment ?? { factory: uptoProxyAddress, data: new Uint8Array(0) }
        return prepareCall(preparation, { to, data, gas: deploymentGas }, lease)
      },
      // Whether it has deployed the wallet shows in the next question.
      broadcast: (prepared) => Effect.asVoid(sendForReceipt(node, sending, prepared))
    },
    prepare: (checked, lease) =>
      Effect.suspend(() =>
        prepareCall(preparation, { to: uptoProxyAddress, data: callDataOf(checked), gas: settleGas }, lease)
      ),
    broadcast: (prepared, checked) => broadcastUpto(node, sending, prepared, checked),
    look: (checked, transaction) => lookForUpto(node, sending, checked, transaction)
  }
}
