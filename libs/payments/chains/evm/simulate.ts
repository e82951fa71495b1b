/**
 * Whether the token would make the transfer now: one question if it would, otherwise one more for the reason. A node
 * that gives no answer is never a refusal.
 */
import { Effect, Clock } from "effect"
import { type ChainUnavailable, PaymentRefused, SettlementRefused, codeOf } from "../../errors.ts"
import { type EvmNode, Reverted } from "./EvmNode.ts"
import type { EvmPayment } from "./payment.ts"
import { readQuantity } from "./encoding.ts"
import {
  manyCallsAddress,
  tryAggregate,
  wordsOf,
  authorizationState,
  balanceOf,
  transferWithAuthorization
} from "./token.ts"

export const simulate = Effect.fnUntraced(function* (
  node: EvmNode,
  contracts: DeployedContracts,
  payment: EvmPayment
): Effect.fn.Return<void, PaymentRefused | ChainUnavailable> {
  // A call to an address without code succeeds and does nothing.
  if (!(yield* contracts.has(payment.asset))) {
    return yield* refused("asset_not_deployed_contract", payment.payer)
  }
  const call = node.call(payment.asset, transferWithAuthorization(payment.authorization, payment.signature))
  const outcome = yield* Effect.result(call)
  if (outcome._tag === "Success") return
  if (!(outcome.failure instanceof Reverted)) return yield* outcome.failure
  const reason = yield* diagnose(node, payment, outcome.failure.text)
  return yield* refused(reason, payment.payer)
})

/** The reason for the token's refusal; `revertText` is the token's own text. */
export const diagnose = Effect.fnUntraced(function* (
  node: EvmNode,
  { asset, payer, amount, authorization }: EvmPayment,
  revertText: string
): Effect.fn.Return<EvmReason, ChainUnavailable> {
  const calls = [authorizationState(payer, authorization.nonce), balanceOf(payer)] as const
  const [state, balance] = yield* read(node, asset, calls)
  if (state === undefined) return "invalid_exact_evm_eip3009_not_supported"
  if (state !== 0n) return "invalid_exact_evm_nonce_already_used"
  // The signature is valid for our domain, so the account has code, or the token has another domain.
  if (/invalid signature/iu.test(revertText)) return "invalid_exact_evm_signature"
  if (balance !== undefined && balance < amount) return "invalid_exact_evm_insufficient_balance"
  return "invalid_exact_evm_transaction_simulation_failed"
})

type Words = readonly [bigint | undefined, bigint | undefined]

const read = Effect.fnUntraced(function* (
  node: EvmNode,
  asset: string,
  calls: readonly [Uint8Array, Uint8Array]
): Effect.fn.Return<Words, ChainUnavailable> {
  const answer = yield* orElse(node.call(manyCallsAddress, tryAggregate(asset, calls)), "0x")
  const together = wordsOf(answer, calls.length)
  if (together !== undefined) return [together[0], together[1]]
  const one = (data: Uint8Array) => Effect.map(orElse(node.call(asset, data), "0x"), readQuantity)
  return yield* Effect.all([one(calls[0]), one(calls[1])], { concurrency: 2 })
})

const orElse = (call: Effect.Effect<string, Reverted | ChainUnavailable>, answer: string) =>
  Effect.catchTag(call, "Reverted", () => Effect.succeed(answer))

// Deployed code stays, but a local chain can be reset.
const keptMs = 15 * 60_000
const keptMax = 64

/** The addresses known to have code, so that they are checked once in a while and not per payment. */
export class DeployedContracts {
  readonly #node: EvmNode
  readonly #seenAtMs = new Map<string, number>()

  constructor(node: EvmNode) {
    this.#node = node
  }

  readonly has = Effect.fnUntraced(function* (
    this: DeployedContracts,
    address: string
  ): Effect.fn.Return<boolean, ChainUnavailable> {
    const nowMs = yield* Clock.currentTimeMillis
    const seenAtMs = this.#seenAtMs.get(address)
    if (seenAtMs !== undefined && nowMs - seenAtMs < keptMs) return true
    const hasCode = yield* this.#node.hasCode(address)
    if (!hasCode) return false
    if (this.#seenAtMs.size >= keptMax) this.#seenAtMs.clear()
    this.#seenAtMs.set(address, nowMs)
    return true
  })
}

/** Reasons of the scheme `upto`, in the words of the same clients. */
type UptoReason =
  | "invalid_upto_evm_scheme"
  | "invalid_upto_evm_network_mismatch"
  | "invalid_upto_evm_payload_settlement_exceeds_amount"
  | "invalid_permit2_spender"
  | "invalid_permit2_recipient_mismatch"
  | "upto_facilitator_mismatch"
  | "permit2_deadline_expired"
  | "permit2_deadline_too_long"
  | "permit2_not_yet_valid"
  | "permit2_amount_mismatch"
  | "permit2_token_mismatch"
  | "invalid_permit2_signature"
  | "permit2_invalid_nonce"
  | "permit2_insufficient_balance"
  | "permit2_allowance_required"
  | "permit2_proxy_not_deployed"
  | "permit2_simulation_failed"
  | "permit2_2612_amount_mismatch"
  | "invalid_eip2612_extension_format"
  | "eip2612_from_mismatch"
  | "eip2612_asset_mismatch"
  | "eip2612_spender_not_permit2"
  | "eip2612_deadline_expired"
  | "upto_transaction_failed"
  | "smart_wallet_deployment_failed"
  | "upto_transfer_event_mismatch"

/**
 * Reasons for refusing a payment on a chain of this family, in the words that x402 clients and facilitators know. Pure.
 */
export type EvmReason =
  | "invalid_payload"
  | "invalid_payment_requirements"
  | "invalid_exact_evm_missing_eip712_domain"
  | "invalid_exact_evm_network_mismatch"
  | "eip6492_factory_not_allowed"
  | "invalid_exact_evm_signature"
  | "invalid_exact_evm_recipient_mismatch"
  | "invalid_exact_evm_payload_authorization_valid_before"
  | "invalid_exact_evm_payload_authorization_valid_after"
  | "invalid_exact_evm_payload_authorization_valid_too_long"
  | "invalid_exact_evm_payload_authorization_value_mismatch"
  | "asset_not_deployed_contract"
  | "invalid_exact_evm_eip3009_not_supported"
  | "invalid_exact_evm_nonce_already_used"
  | "invalid_exact_evm_insufficient_balance"
  | "invalid_exact_evm_transaction_simulation_failed"
  | "invalid_exact_evm_transaction_failed"
  | "invalid_exact_evm_transfer_event_mismatch"
  | UptoReason

export const refused = (reason: EvmReason, payer: string | null, detail?: string): PaymentRefused =>
  new PaymentRefused({ code: codeOf(reason), reason, payer, ...(detail === undefined ? {} : { detail }) })

export const settlementRefused = (reason: EvmReason, payer: string, transaction: string | null): SettlementRefused =>
  new SettlementRefused({ code: codeOf(reason), reason, payer, transaction })
