/**
 * Signs the settling transaction. Whether the transfer would still succeed is for `recheck` to ask; only a gas estimate,
 * where one is wanted, says it by the way. Nothing is sent; the hash is known from here on.
 */
import { Effect, Redacted } from "effect"
import { ChainUnavailable, type PaymentRefused } from "../errors.ts"
import type { SettlerLease } from "../scheme.ts"
import { type EvmNode, Reverted } from "./EvmNode.ts"
import type { EvmPayment, EvmPrepared } from "./EvmPayment.ts"
import type { EvmSettings } from "./EvmSettings.ts"
import type { FeeSource } from "./FeeSource.ts"
import { bytesOf } from "./hex.ts"
import { refused } from "./reasons.ts"
import { transferWithAuthorization } from "./token-calls.ts"
import { signTransaction } from "./transaction.ts"

export interface Preparation {
  readonly node: EvmNode
  readonly fees: FeeSource
  readonly chainId: bigint
  readonly settings: Pick<EvmSettings, "gas" | "gasMax">
}

export const prepare = Effect.fnUntraced(function* (
  { node, fees, chainId, settings }: Preparation,
  payment: EvmPayment,
  { key, nonce }: SettlerLease
): Effect.fn.Return<EvmPrepared, PaymentRefused | ChainUnavailable> {
  if (nonce === null) {
    return yield* new ChainUnavailable({ operation: "sign", detail: "the lease carries no nonce of the account" })
  }
  const questions = [fees.current(), gasFor(node, payment, key.address, settings)] as const
  const [offer, gas] = yield* Effect.all(questions, { concurrency: 2 })
  const { hash, raw } = signTransaction(
    {
      chainId,
      nonce: BigInt(nonce),
      tipWei: offer.tipWei,
      feeMaxWei: offer.feeMaxWei,
      gas,
      to: payment.asset,
      data: transferWithAuthorization(payment.authorization, payment.signature)
    },
    Redacted.value(key.secret)
  )
  return { transaction: hash, raw: new Uint8Array(bytesOf(raw)), settler: key.address, nonce }
})

const gasFor = Effect.fnUntraced(function* (
  node: EvmNode,
  payment: EvmPayment,
  settler: string,
  { gas, gasMax }: Pick<EvmSettings, "gas" | "gasMax">
): Effect.fn.Return<bigint, PaymentRefused | ChainUnavailable> {
  if (gas !== null) return gas
  const data = transferWithAuthorization(payment.authorization, payment.signature)
  const estimate = yield* Effect.result(node.estimateGas(settler, payment.asset, data))
  if (estimate._tag === "Failure") {
    if (!(estimate.failure instanceof Reverted)) return yield* estimate.failure
    return yield* refused("invalid_exact_evm_transaction_simulation_failed", payment.payer)
  }
  // A fifth more: the state may be another when it is in its block.
  const wanted = (estimate.success * 6n) / 5n
  if (wanted <= gasMax) return wanted
  const detail = `the transfer would use ${wanted} gas, more than the cap of ${gasMax}`
  return yield* new ChainUnavailable({ operation: "sign", detail })
})
