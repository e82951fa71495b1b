/**
 * The local checks of a Solana payment: it is exactly the quoted transfer, at a fee that we are willing to pay, signed
 * by its payer. The order of the checks, and so the reason for a payment with two faults, is that of the reference
 * facilitator. Pure but for a small cache of addresses.
 */
import { createHash } from "node:crypto"
import { Result, Schema } from "effect"
import { claimKeyOf, ExactSvmPayload, type PaymentPayload, type PaymentRequirements } from "#payments/contract"
import { PaymentRefused } from "../../errors.ts"
import {
  associatedTokenAccount,
  type FeeLimits,
  foreignInstruction,
  readInstructions,
  reasons,
  type SvmTransfer,
  usesFeePayer
} from "./instructions.ts"
import type { CheckedPayment } from "../../scheme.ts"
import { decodeAddress, verifySignature } from "./keys.ts"
import { decodeTransaction, decodeWire, type SvmTransaction } from "./transaction.ts"

export interface CheckOptions {
  /** CAIP-2. */
  readonly network: string
  /** Our own accounts that pay fees, base58. */
  readonly feePayers: ReadonlyArray<string>
  readonly limits: FeeLimits
}

export interface CheckedSvmPayment extends CheckedPayment {
  readonly transaction: SvmTransaction
  readonly feePayer: string
  readonly transfer: SvmTransfer
  /** SHA-256 of the message, hex: the payment's identity, whatever the fee payer's slot contains. */
  readonly messageHash: string
}

/**
 * A transaction is accepted for 150 blocks after its blockhash, of about 0.4 s each, and no node reports how old the
 * hash is. This is the latest possible end, counted from now, with room for slots without a block. The earliest is any
 * moment.
 */
export const blockhashLifeMsMax = 90_000

const decodePayload = Schema.decodeUnknownResult(ExactSvmPayload)

export const checkPayment = (
  options: CheckOptions,
  payload: PaymentPayload,
  requirements: PaymentRequirements,
  nowMs: number
): Result.Result<CheckedSvmPayment, PaymentRefused> => {
  const quoteFault = checkQuote(options, payload, requirements)
  if (quoteFault !== undefined) return refuse(quoteFault)
  const feePayer = String(requirements.extra?.["feePayer"])
  const transaction = readPayload(payload)
  if (transaction === undefined) return refuse(reasons.undecodable)
  const signerFault = checkSigners(options, transaction, feePayer)
  if (signerFault !== undefined) return refuse(signerFault)

  const read = readInstructions(transaction, options.limits)
  if (Result.isFailure(read)) return refuse(read.failure)
  const { transfer, memos } = read.success
  const payer = transfer.authority
  const fault = checkPurpose(options, transaction, transfer, memos, requirements)
  if (fault !== undefined) return refuse(fault, payer)

  const messageHash = createHash("sha256").update(transaction.message).digest("hex")
  const { network, asset, payTo } = requirements
  return Result.succeed({
    network,
    asset,
    payer,
    payTo,
    amount: transfer.amount,
    charge: transfer.amount,
    claimKey: claimKeyOf({ network, asset, payer, nonce: messageHash }),
    validBeforeMs: nowMs + blockhashLifeMsMax,
    payload,
    requirements,
    transaction,
    feePayer,
    transfer,
    messageHash
  })
}

const refuse = (reason: string, payer: string | null = null) =>
  Result.fail(new PaymentRefused({ code: "PAYMENT_INVALID", reason, payer }))

const checkPurpose = (
  options: CheckOptions,
  transaction: SvmTransaction,
  transfer: SvmTransfer,
  memos: ReadonlyArray<Uint8Array>,
  requirements: PaymentRequirements
) =>
  checkTransfer(options, transfer, requirements) ??
  foreignInstruction(transaction) ??
  checkMemos(memos, requirements) ??
  checkCustody(transaction, transfer.authority)

const checkQuote = (options: CheckOptions, { accepted }: PaymentPayload, requirements: PaymentRequirements) => {
  if (accepted.scheme !== "exact" || requirements.scheme !== "exact") return reasons.scheme
  if (accepted.network !== requirements.network || requirements.network !== options.network) return reasons.network
  const feePayer = requirements.extra?.["feePayer"]
  if (typeof feePayer !== "string" || feePayer === "") return reasons.feePayerMissing
  return options.feePayers.includes(feePayer) ? undefined : reasons.feePayerNotOurs
}

const readPayload = (payload: PaymentPayload) => {
  const decoded = decodePayload(payload.payload)
  const wire = Result.isSuccess(decoded) ? decodeWire(decoded.success.transaction) : undefined
  return wire === undefined ? undefined : decodeTransaction(wire)
}

/**
 * Checks every signature but the fee payer's own, which is still missing. Lookup tables are on the chain, so they are
 * refused.
 */
const checkSigners = (options: CheckOptions, transaction: SvmTransaction, feePayer: string) => {
  if (transaction.requiredSignatures > options.limits.requiredSignaturesMax) return reasons.signers
  if (transaction.accounts[0] !== feePayer) return reasons.feePayerOther
  for (let index = 1; index < transaction.requiredSignatures; index += 1) {
    const key = decodeAddress(transaction.accounts[index] ?? "")
    const signature = transaction.signatures[index]
    if (key === undefined || signature === undefined) return reasons.signature
    if (!verifySignature(key, transaction.message, signature)) return reasons.signature
  }
  return transaction.lookupTables > 0 ? reasons.lookupTables : undefined
}

const checkTransfer = (options: CheckOptions, transfer: SvmTransfer, requirements: PaymentRequirements) => {
  if (options.feePayers.includes(transfer.authority)) return reasons.feePayerSpends
  if (transfer.mint !== requirements.asset) return reasons.mint
  const { payTo, asset } = requirements
  if (transfer.destination !== associatedTokenAccount(payTo, transfer.tokenProgram, asset)) return reasons.recipient
  return transfer.amount === BigInt(requirements.amount) ? undefined : reasons.amount
}

/** A quote without a memo accepts any: clients add one so that two equal payments differ. */
const checkMemos = (memos: ReadonlyArray<Uint8Array>, requirements: PaymentRequirements) => {
  const wanted = requirements.extra?.["memo"]
  if (typeof wanted !== "string" || wanted === "") return undefined
  const [memo] = memos
  if (memo === undefined || memos.length !== 1) return reasons.memoCount
  return new TextDecoder().decode(memo) === wanted ? undefined : reasons.memo
}

/**
 * Stricter than the reference, which finds the first fault only by simulation and the second not at all: the owner of
 * the money must have signed personally (an SPL multisig account cannot), and no instruction may use the fee payer.
 */
const checkCustody = (transaction: SvmTransaction, payer: string) => {
  const index = transaction.accounts.indexOf(payer)
  if (index <= 0 || index >= transaction.requiredSignatures) return reasons.signature
  return usesFeePayer(transaction) ? reasons.feePayerSpends : undefined
}
