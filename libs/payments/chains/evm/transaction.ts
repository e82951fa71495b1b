/**
 * A settling transaction with a base fee and a tip (EIP-1559): its fees, its gas, and its signature. It is signed
 * before it is sent, so its hash is already known then.
 */
import { Effect, Clock, Result } from "effect"
import { keccak256, serializeTransaction } from "viem/utils"
import { bytesOf, type Hex, hexOf } from "./encoding.ts"
import { readSignature } from "./signature.ts"
import { ChainUnavailable } from "../../errors.ts"
import type { SettlerKey, SettlerLease } from "../../scheme.ts"
import type { EvmNode } from "./EvmNode.ts"
import type { EvmPayment, EvmPrepared } from "./payment.ts"
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

export const signTransaction = Effect.fnUntraced(function* (
  { chainId, nonce, tipWei, feeMaxWei, gas, to, data }: TransactionFields,
  key: Pick<SettlerKey, "sign">
): Effect.fn.Return<SignedTransaction, ChainUnavailable> {
  const transaction = {
    type: "eip1559",
    chainId: Number(chainId),
    nonce: Number(nonce),
    maxPriorityFeePerGas: tipWei,
    maxFeePerGas: feeMaxWei,
    gas,
    to: to.toLowerCase() as Hex,
    data: hexOf(data)
  } as const
  const signature = readSignature(hexOf(yield* key.sign(bytesOf(serializeTransaction(transaction)))))
  if (Result.isFailure(signature)) {
    return yield* new ChainUnavailable({ operation: "sign", detail: "the signer's answer is no signature" })
  }
  const { bytes, parity } = signature.success
  const [r, s] = [hexOf(bytes.subarray(0, 32)), hexOf(bytes.subarray(32))]
  const raw = serializeTransaction(transaction, { r, s, yParity: parity })
  return { hash: keccak256(raw), raw }
})

// A transfer with authorization of the dollar token uses about 65,000 to 90,000; unused gas is not paid for.
const transferGas = 150_000n

export interface Preparation {
  readonly node: EvmNode
  readonly fees: FeeSource
  readonly chainId: bigint
}

/** Signs the settling transaction and sends nothing; the hash is known from here on. */
export const prepare = (preparation: Preparation, payment: EvmPayment, lease: SettlerLease) =>
  prepareCall(
    preparation,
    {
      to: payment.asset,
      data: transferWithAuthorization(payment.authorization, payment.signature),
      gas: transferGas
    },
    lease
  )

/** None while the chain asks for more than the cap: no transfer is offered then. */
export const transfersLeft = ({ node, fees }: Pick<Preparation, "node" | "fees">, address: string) =>
  Effect.all([node.balance(address), fees.current()], { concurrency: 2 }).pipe(
    Effect.map(([balance, { feeMaxWei }]) => balance / (feeMaxWei * transferGas || 1n)),
    Effect.catchIf(
      ({ operation }) => operation === offering,
      () => Effect.succeed(0n)
    )
  )

const offering = "offer a fee"

interface ContractCall {
  readonly to: string
  readonly data: Uint8Array
  /** The maximum gas that it may use. */
  readonly gas: bigint
}

/** Signs a call of a contract; sends nothing. */
export const prepareCall = Effect.fnUntraced(function* (
  { fees, chainId }: Pick<Preparation, "fees" | "chainId">,
  call: ContractCall,
  { key, nonce }: SettlerLease
): Effect.fn.Return<EvmPrepared, ChainUnavailable> {
  if (nonce === null) {
    return yield* new ChainUnavailable({ operation: "sign", detail: "the lease carries no nonce of the account" })
  }
  const offer = yield* fees.current()
  const fields = { ...offer, chainId, nonce: BigInt(nonce), ...call }
  const { hash, raw } = yield* signTransaction(fields, key)
  return { transaction: hash, raw: new Uint8Array(bytesOf(raw)), nonce }
})

/**
 * The fees that a settling transaction offers. Pure. The offer has room for the base fee to double until the
 * transaction is in a block, but never exceeds the cap; while a chain's fees are above the cap, nothing is settled
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

/** The chain's current fees, requested at most every two seconds, however many payments are settled. */
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
      return yield* new ChainUnavailable({ operation: offering, detail })
    }
    this.#last = { fees, atMs: nowMs }
    return fees
  })
}
