/**
 * A settling transaction with a base fee and a tip (EIP-1559): its fees, its gas, and its signature. It is signed here,
 * so that its hash is known before anything is sent.
 */
import { signDigest } from "./signature.ts"
import { bytesOf, type Hex, hexOf, keccak256, encodeRlp, type RlpItem, rlpNumber } from "./encoding.ts"
import { Effect, Redacted, Clock } from "effect"
import { ChainUnavailable, type PaymentRefused } from "../../errors.ts"
import type { SettlerLease } from "../../scheme.ts"
import { type EvmNode, Reverted } from "./EvmNode.ts"
import type { EvmPayment, EvmPrepared } from "./payment.ts"
import type { EvmSettings } from "./settings.ts"
import { refused } from "./simulate.ts"
import { transferWithAuthorization } from "./token.ts"

interface TransactionFields {
  readonly chainId: bigint
  readonly nonce: bigint
  readonly tipWei: bigint
  readonly feeMaxWei: bigint
  readonly gas: bigint
  readonly to: string
  readonly data: Uint8Array
}

interface SignedTransaction {
  readonly hash: Hex
  /** The argument of eth_sendRawTransaction. */
  readonly raw: Hex
}

const kind = Buffer.from([0x02])

export const signTransaction = (fields: TransactionFields, key: Uint8Array): SignedTransaction => {
  const body: ReadonlyArray<RlpItem> = [
    rlpNumber(fields.chainId),
    rlpNumber(fields.nonce),
    rlpNumber(fields.tipWei),
    rlpNumber(fields.feeMaxWei),
    rlpNumber(fields.gas),
    bytesOf(fields.to),
    // No value is sent and no access list is given.
    rlpNumber(0n),
    fields.data,
    []
  ]
  const { bytes, parity } = signDigest(keccak256(Buffer.concat([kind, encodeRlp(body)])), key)
  const r = rlpNumber(BigInt(hexOf(bytes.subarray(0, 32))))
  const s = rlpNumber(BigInt(hexOf(bytes.subarray(32))))
  const raw = Buffer.concat([kind, encodeRlp([...body, rlpNumber(BigInt(parity)), r, s])])
  return { hash: hexOf(keccak256(raw)), raw: hexOf(raw) }
}

/**
 * Signs the settling transaction. Whether the transfer would still succeed is checked by `recheck`; a gas estimate,
 * where one is wanted, only shows it in passing. Nothing is sent; the hash is known from here on.
 */
interface Preparation {
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
  // A fifth more, for the state may differ when the transaction is in its block.
  const wanted = (estimate.success * 6n) / 5n
  if (wanted <= gasMax) return wanted
  const detail = `the transfer would use ${wanted} gas, more than the cap of ${gasMax}`
  return yield* new ChainUnavailable({ operation: "sign", detail })
})

/**
 * The fees that a settling transaction offers. Pure. The offer has room for the base fee to double until the
 * transaction is in a block, but never exceeds the cap; while a chain asks for more than the cap, nothing is settled
 * there.
 */
interface Fees {
  readonly feeMaxWei: bigint
  readonly tipWei: bigint
}

export const feesFor = (baseFeeWei: bigint, tipWei: bigint, capWei: bigint): Fees | undefined => {
  const least = baseFeeWei + tipWei
  if (least > capWei) return undefined
  const wanted = baseFeeWei * 2n + tipWei
  return { feeMaxWei: wanted < capWei ? wanted : capWei, tipWei }
}

// The offer has room for the base fee to double, which takes six full blocks at least.
const keptMs = 2_000

/** The chain's present fees, asked for at most every two seconds, however many payments are settled. */
export class FeeSource {
  readonly #node: EvmNode
  readonly #capWei: bigint
  #last: { readonly fees: Fees; readonly atMs: number } | undefined

  constructor(node: EvmNode, capWei: bigint) {
    this.#node = node
    this.#capWei = capWei
  }

  readonly current = Effect.fnUntraced(function* (this: FeeSource): Effect.fn.Return<Fees, ChainUnavailable> {
    const nowMs = yield* Clock.currentTimeMillis
    if (this.#last !== undefined && nowMs - this.#last.atMs < keptMs) return this.#last.fees
    const [block, tipWei] = yield* Effect.all([this.#node.block("latest"), this.#node.tipWei], { concurrency: 2 })
    const fees = feesFor(block.baseFeeWei, tipWei, this.#capWei)
    if (fees === undefined) {
      const detail = `the chain asks for ${block.baseFeeWei + tipWei} wei per gas, more than the cap of ${this.#capWei}`
      return yield* new ChainUnavailable({ operation: "offer a fee", detail })
    }
    this.#last = { fees, atMs: nowMs }
    return fees
  })
}
