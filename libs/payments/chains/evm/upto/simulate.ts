/**
 * Whether the proxy would make the transfer now: one question if it would, asked as the signed facilitator; otherwise
 * one more for the reason. A node that gives no answer is never a refusal.
 */
import { Effect } from "effect"
import type { ChainUnavailable, PaymentRefused } from "../../../errors.ts"
import { readQuantity } from "../encoding.ts"
import { type EvmNode, Reverted } from "../EvmNode.ts"
import { isUsedIn, nonceBitmap, permit2Address } from "../permit2.ts"
import { type DeployedContracts, type EvmReason, refused } from "../simulate.ts"
import { allowance, answersOf, balanceOf, manyCallsAddress, tryAggregateAll, wordsOf } from "../token.ts"
import type { UptoPayment } from "./payment.ts"
import { refusals, settleCall, uptoProxyAddress } from "./proxy.ts"
import type { Deployment } from "../signature.ts"

export const callDataOf = ({ permit, charge, signature, approval }: UptoPayment) =>
  settleCall(permit, charge, signature, approval)

interface UptoSimulation {
  readonly node: EvmNode
  readonly contracts: DeployedContracts
  /** In lower case. */
  readonly walletFactories: ReadonlyArray<string>
}

export const simulateUpto = Effect.fnUntraced(function* (
  { node, contracts, walletFactories }: UptoSimulation,
  payment: UptoPayment
): Effect.fn.Return<void, PaymentRefused | ChainUnavailable> {
  const { asset, payer, facilitator, isUnproven, deployment } = payment
  const refuse = (reason: EvmReason) => refused(reason, payer)
  // A call to an address without code succeeds and does nothing.
  const [hasToken, hasProxy] = yield* Effect.all([contracts.has(asset), contracts.has(uptoProxyAddress)], {
    concurrency: 2
  })
  if (!hasToken) return yield* refuse("asset_not_deployed_contract")
  if (!hasProxy) return yield* refuse("permit2_proxy_not_deployed")
  // Only a contract wallet can sign other than by its key.
  if (isUnproven === true && !(yield* node.hasCode(payer))) {
    if (deployment === null) return yield* refuse("invalid_permit2_signature")
    if (!walletFactories.includes(deployment.factory)) return yield* refuse("eip6492_factory_not_allowed")
    const fault = yield* simulateDeploying(node, payment, deployment)
    return fault === undefined ? undefined : yield* refuse(fault)
  }
  const call = node.call(uptoProxyAddress, callDataOf(payment), { from: facilitator })
  const outcome = yield* Effect.result(call)
  if (outcome._tag === "Success") return
  if (!(outcome.failure instanceof Reverted)) return yield* outcome.failure
  return yield* refuse(yield* diagnoseUpto(node, payment, outcome.failure))
})

/**
 * Whether the transfer would be made once the payer's wallet is deployed: both calls in one question. For it, the
 * contract for several calls is placed at the facilitator's own address, because the proxy checks its caller.
 */
const simulateDeploying = Effect.fnUntraced(function* (
  node: EvmNode,
  payment: UptoPayment,
  { factory, data }: Deployment
): Effect.fn.Return<EvmReason | undefined, ChainUnavailable> {
  const { facilitator } = payment
  const calls = [
    { target: factory, data },
    { target: uptoProxyAddress, data: callDataOf(payment) }
  ]
  const code = { [facilitator]: yield* node.code(manyCallsAddress) }
  const answer = yield* orUndefined(node.call(facilitator, tryAggregateAll(calls), { from: facilitator, code }))
  const [deployed, made] = answersOf(answer, calls.length) ?? []
  if (deployed === undefined) return "smart_wallet_deployment_failed"
  return made === undefined ? yield* diagnoseUpto(node, payment, {}) : undefined
})

/** The reason for a refusal: as the contracts declare it, or from what the payer holds and has approved. */
export const diagnoseUpto = Effect.fnUntraced(function* (
  node: EvmNode,
  { asset, payer, charge, permit, approval, isUnproven }: UptoPayment,
  { selector }: Pick<Reverted, "selector">
): Effect.fn.Return<EvmReason, ChainUnavailable> {
  const declared = selector === undefined ? undefined : refusals[selector]
  if (declared !== undefined) return declared
  const calls = [
    { target: permit2Address, data: nonceBitmap(payer, permit.nonce) },
    { target: asset, data: balanceOf(payer) },
    { target: asset, data: allowance(payer, permit2Address) }
  ]
  const [word, balance, allowed] = yield* readAll(node, calls)
  if (word !== undefined && isUsedIn(permit.nonce)(word)) return "permit2_invalid_nonce"
  if (balance !== undefined && balance < charge) return "permit2_insufficient_balance"
  if (allowed !== undefined && allowed < charge) {
    // An approval that was sent and not accepted was not signed by the payer, or is for another nonce of the token.
    return approval === null ? "permit2_allowance_required" : "permit2_simulation_failed"
  }
  return isUnproven === true ? "invalid_permit2_signature" : "permit2_simulation_failed"
})

const readAll = Effect.fnUntraced(function* (
  node: EvmNode,
  calls: ReadonlyArray<{ readonly target: string; readonly data: Uint8Array }>
): Effect.fn.Return<ReadonlyArray<bigint | undefined>, ChainUnavailable> {
  const answer = yield* orUndefined(node.call(manyCallsAddress, tryAggregateAll(calls)))
  const together = wordsOf(answer, calls.length)
  if (together !== undefined) return together
  return yield* Effect.forEach(
    calls,
    ({ target, data }) => Effect.map(orUndefined(node.call(target, data)), readQuantity),
    { concurrency: calls.length }
  )
})

const orUndefined = (call: Effect.Effect<string, Reverted | ChainUnavailable>) =>
  Effect.catchTag(call, "Reverted", () => Effect.succeed("0x"))
