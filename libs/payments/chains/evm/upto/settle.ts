/**
 * A transfer by the proxy, from the signed transaction to its end on the chain. Permit2 shows that a nonce is used, but
 * not by what: the transaction that made the transfer is recognized by its call to the proxy.
 */
import { Effect } from "effect"
import { ChainUnavailable, SettlementPending, type SettlementRefused } from "../../../errors.ts"
import type { ChainStatus, Settlement } from "../../../scheme.ts"
import { addressTopic, isHash, numberInWord, readQuantity } from "../encoding.ts"
import { type CallOptions, type EvmNode, type Log, Reverted, type TransactionReceipt } from "../EvmNode.ts"
import { type LookOptions, statusOfUnused } from "../look.ts"
import { clockSkewSeconds, type EvmPrepared } from "../payment.ts"
import { invalidationTopic, isUsedIn, nonceBitmap, permit2Address } from "../permit2.ts"
import { sendForReceipt, type SendOptions } from "../send.ts"
import { settlementRefused } from "../simulate.ts"
import { hasTransfer, transferTopic } from "../token.ts"
import type { UptoPayment } from "./payment.ts"
import { isCallFor } from "./proxy.ts"
import { diagnoseUpto } from "./simulate.ts"

type Refusal = SettlementRefused | SettlementPending | ChainUnavailable

/** Sends a signed settlement and waits for the token's own proof that the charge was transferred. */
export const broadcastUpto = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions & SendOptions,
  prepared: EvmPrepared,
  payment: UptoPayment
): Effect.fn.Return<Settlement, Refusal> {
  return yield* concluded(node, options, payment, yield* sendForReceipt(node, options, prepared))
})

const concluded = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions,
  payment: UptoPayment,
  receipt: TransactionReceipt
): Effect.fn.Return<Settlement, Refusal> {
  const transaction = receipt.transactionHash
  const isCarriedOut = readQuantity(receipt.status) === 1n
  if (isCarriedOut && hasTransfer(receipt.logs, payment)) return { transaction }
  const asPending = Effect.mapError(
    (error: ChainUnavailable) => new SettlementPending({ transaction, detail: error.message })
  )
  const status = yield* asPending(lookForUpto(node, options, payment, null))
  if (status._tag === "Settled") return { transaction: status.transaction }
  const refuse = (reason: Parameters<typeof settlementRefused>[0]) =>
    settlementRefused(reason, payment.payer, transaction)
  if (status._tag === "Spent") return yield* refuse("permit2_invalid_nonce")
  if (isCarriedOut) return yield* refuse("upto_transfer_event_mismatch")
  if (status._tag === "Undecided") return yield* new SettlementPending({ transaction, detail: status.detail })
  const reason = yield* asPending(diagnoseUpto(node, payment, {}))
  return yield* refuse(reason === "permit2_simulation_failed" ? "upto_transaction_failed" : reason)
})

/** What the chain says about a payment, whoever submitted it. */
export const lookForUpto = Effect.fn("evm.lookForUpto")(function* (
  node: EvmNode,
  options: LookOptions,
  payment: UptoPayment,
  transaction: string | null
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  if (transaction !== null && isHash(transaction) && (yield* isMadeBy(node, payment, transaction))) {
    return { _tag: "Settled", transaction }
  }
  if (yield* isUsed(node, payment)) return yield* howUsed(node, options, payment)
  const { validBeforeMs, permit } = payment
  return yield* statusOfUnused(node, {
    validBeforeMs,
    // A block in the exact second of the deadline can still contain it.
    endSeconds: permit.deadline + 1n,
    isUsed: isUsed(node, payment),
    transaction
  })
})

const isMadeBy = Effect.fnUntraced(function* (
  node: EvmNode,
  payment: UptoPayment,
  transaction: string
): Effect.fn.Return<boolean, ChainUnavailable> {
  const receipt = yield* node.receipt(transaction)
  if (receipt === null || readQuantity(receipt.status) !== 1n || !hasTransfer(receipt.logs, payment)) return false
  // The same payer may have paid the same amount by another permit.
  const called = yield* node.transaction(transaction)
  return called !== null && isCallFor(payment.permit, called.to, called.input)
})

const isUsed = (node: EvmNode, { payer, permit }: UptoPayment, block: CallOptions["block"] = "latest") =>
  node.call(permit2Address, nonceBitmap(payer, permit.nonce), { block }).pipe(
    Effect.catchIf(
      (error) => error instanceof Reverted,
      () => Effect.succeed("0x0")
    ),
    Effect.map((answer) => isUsedIn(permit.nonce)(numberInWord(answer)))
  )

const howUsed = Effect.fnUntraced(function* (
  node: EvmNode,
  options: LookOptions,
  payment: UptoPayment
): Effect.fn.Return<ChainStatus, ChainUnavailable> {
  // Asked before the logs: a use that is final by now is among them.
  const isFinal = yield* isUsed(node, payment, "finalized")
  const found = yield* search(node, options, payment)
  if (found !== undefined) return found
  return isFinal
    ? { _tag: "Spent", transaction: null }
    : { _tag: "Undecided", detail: "its nonce is used, and its transfer is not found yet" }
})

/** Searches backwards from the newest block to where the permit cannot have been signed yet. */
const search = Effect.fnUntraced(function* (
  node: EvmNode,
  { logBlocksMax, logPagesMax }: LookOptions,
  payment: UptoPayment
): Effect.fn.Return<ChainStatus | undefined, ChainUnavailable> {
  const { permit, requirements } = payment
  const notBefore = permit.deadline - BigInt(requirements.maxTimeoutSeconds) - clockSkewSeconds
  let toBlock = (yield* node.block("latest")).number
  for (let page = 0; page < logPagesMax; page += 1) {
    const fromBlock = toBlock >= logBlocksMax ? toBlock - logBlocksMax + 1n : 0n
    const found = yield* searchPage(node, payment, { fromBlock, toBlock })
    if (found !== undefined) return found
    if (fromBlock === 0n || (yield* node.block(fromBlock)).timestamp < notBefore) return undefined
    toBlock = fromBlock - 1n
  }
  return undefined
})

interface BlockRange {
  readonly fromBlock: bigint
  readonly toBlock: bigint
}

const searchPage = Effect.fnUntraced(function* (
  node: EvmNode,
  { asset, payer, payTo, charge, permit }: UptoPayment,
  range: BlockRange
): Effect.fn.Return<ChainStatus | undefined, ChainUnavailable> {
  const read = (address: string, topics: ReadonlyArray<string>) =>
    node
      .logs({ address, topics, ...range })
      .pipe(Effect.catchTag("TooManyLogs", ({ detail }) => new ChainUnavailable({ operation: "read logs", detail })))
  const [moved, cancelled] = yield* Effect.all(
    [
      read(asset, [transferTopic, addressTopic(payer), addressTopic(payTo)]),
      read(permit2Address, [invalidationTopic, addressTopic(payer)])
    ],
    { concurrency: 2 }
  )
  // The newest first: a payer that pays often has paid the same amount before.
  for (const { data, transactionHash: transaction } of moved.toReversed()) {
    if (readQuantity(data) !== charge) continue
    const called = yield* node.transaction(transaction)
    if (called !== null && isCallFor(permit, called.to, called.input)) return { _tag: "Settled", transaction }
  }
  const cancelling = cancelled.find((log) => isInvalidating(log, permit.nonce))
  return cancelling && { _tag: "Spent", transaction: cancelling.transactionHash }
})

/** Whether a payer has cancelled a nonce, possibly with others of the same word. */
const isInvalidating = ({ data }: Log, nonce: bigint): boolean => {
  const [word, mask] = [numberInWord(data.slice(0, 66)), numberInWord(`0x${data.slice(66, 130)}`)]
  return word === nonce >> 8n && isUsedIn(nonce)(mask)
}
