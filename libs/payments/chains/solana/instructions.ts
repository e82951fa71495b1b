/**
 * The instructions of a payment, in order: compute unit limit, compute unit price, the transfer, then up to four memos
 * and Lighthouse assertions. Nothing else runs on our fee: no accounts are created, and the fee payer appears in no
 * instruction, so nothing it owns can move. Pure.
 *
 * Reasons for refusing a Solana payment, in the words that x402 clients and facilitators know, and the gateway's code
 * (one of four) for each. The reasons of simulation and settlement depend on the chain's answer: see simulate.ts.
 */
import { createHash } from "node:crypto"
import { type Address, isOffCurveAddress } from "@solana/kit"
import { Result } from "effect"
import type { SvmInstruction, SvmTransaction } from "./transaction.ts"
import { decodeAddress, encodeBase58 } from "./keys.ts"

export const reasons = {
  scheme: "invalid_exact_svm_unsupported_scheme",
  network: "invalid_exact_svm_network_mismatch",
  feePayerMissing: "invalid_exact_svm_payload_missing_fee_payer",
  feePayerNotOurs: "invalid_exact_svm_fee_payer_not_managed_by_facilitator",
  undecodable: "invalid_exact_svm_payload_transaction_could_not_be_decoded",
  signers: "invalid_exact_svm_payload_excessive_signers",
  feePayerOther: "invalid_exact_svm_fee_payer_mismatch",
  signature: "invalid_exact_svm_payload_signature_invalid",
  lookupTables: "invalid_exact_svm_smart_wallet_alt_resolution_not_available",
  instructionCount: "invalid_exact_svm_payload_transaction_instructions_length",
  computeLimit: "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction",
  computeLimitHigh: "invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high",
  computePrice: "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction",
  computePriceHigh: "invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high",
  noTransfer: "invalid_exact_svm_payload_no_transfer_instruction",
  feePayerSpends: "invalid_exact_svm_payload_transaction_fee_payer_transferring_funds",
  mint: "invalid_exact_svm_payload_mint_mismatch",
  recipient: "invalid_exact_svm_payload_recipient_mismatch",
  amount: "invalid_exact_svm_payload_amount_mismatch",
  /** By position after the transfer. */
  unknownInstruction: [
    "invalid_exact_svm_payload_unknown_fourth_instruction",
    "invalid_exact_svm_payload_unknown_fifth_instruction",
    "invalid_exact_svm_payload_unknown_sixth_instruction",
    "invalid_exact_svm_payload_unknown_seventh_instruction"
  ],
  memoCount: "invalid_exact_svm_payload_memo_count",
  memo: "invalid_exact_svm_payload_memo_mismatch",
  simulation: "invalid_exact_svm_transaction_simulation_failed",
  settlement: "invalid_exact_svm_transaction_failed",
  duplicate: "duplicate_settlement"
} as const

export interface FeeLimits {
  /** Micro-lamports per compute unit. */
  readonly priorityFeeMax: number
  readonly computeUnitsMax: number
  readonly requiredSignaturesMax: number
}

/** The transfer that makes up a payment; addresses in base58. */
export interface SvmTransfer {
  readonly tokenProgram: string
  readonly source: string
  readonly mint: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
}

/** The transfer's index among the instructions; the chain's errors refer to it. */
export const transferIndex = 2
const instructionsMin = 3
const instructionsMax = 7

/** The transfer and the memos after it, or the reason for a refusal. */
export const readInstructions = (
  transaction: SvmTransaction,
  limits: FeeLimits
): Result.Result<{ readonly transfer: SvmTransfer; readonly memos: ReadonlyArray<Uint8Array> }, string> => {
  const { instructions } = transaction
  const [limit, price, third] = instructions
  if (limit === undefined || price === undefined || third === undefined || instructions.length > instructionsMax) {
    return Result.fail(reasons.instructionCount)
  }
  const budgetFault = computeLimitFault(transaction, limit, limits) ?? computePriceFault(transaction, price, limits)
  if (budgetFault !== undefined) return Result.fail(budgetFault)
  const transfer = readTransfer(transaction, third)
  if (transfer === undefined) return Result.fail(reasons.noTransfer)
  const memos = instructions.slice(instructionsMin).filter((one) => programOf(transaction, one) === memoProgram)
  return Result.succeed({ transfer, memos: memos.map(({ data }) => data) })
}

/** The account whose money the first transfer moves, as stated by the transaction. */
export const statedAuthority = (transaction: SvmTransaction): string | undefined => {
  for (const one of transaction.instructions) {
    const transfer = readTransfer(transaction, one)
    if (transfer !== undefined) return transfer.authority
  }
  return undefined
}

/** An instruction after the transfer that is neither memo nor assertion. */
export const foreignInstruction = (transaction: SvmTransaction): string | undefined => {
  const behind = transaction.instructions.slice(instructionsMin)
  const index = behind.findIndex((one) => {
    const program = programOf(transaction, one)
    return program !== memoProgram && program !== lighthouseProgram
  })
  return index < 0 ? undefined : reasons.unknownInstruction[index]
}

/** The fee payer is account 0. A Lighthouse write, for example, takes its rent from the payer it names. */
export const usesFeePayer = (transaction: SvmTransaction): boolean =>
  transaction.instructions.some(({ accounts }) => accounts.includes(0))

/** Reads any transfer with a check of the mint, at any position; `undefined` for other instructions. */
export const readTransfer = (
  transaction: Pick<SvmTransaction, "accounts">,
  instruction: SvmInstruction
): SvmTransfer | undefined => {
  const program = transaction.accounts[instruction.program]
  const { data } = instruction
  if ((program !== tokenProgram && program !== token2022Program) || data.length < 10) return undefined
  if (data[0] !== transferChecked) return undefined
  const [source, mint, destination, authority] = [...instruction.accounts.subarray(0, 4)].map(
    (index) => transaction.accounts[index]
  )
  if (source === undefined || mint === undefined || destination === undefined || authority === undefined) {
    return undefined
  }
  const amount = view(data).getBigUint64(1, true)
  return { tokenProgram: program, source, mint, destination, authority, amount }
}

const computeLimitFault = (transaction: SvmTransaction, one: SvmInstruction, limits: FeeLimits) => {
  if (programOf(transaction, one) !== computeBudgetProgram) return reasons.computeLimit
  if (one.data[0] !== setComputeUnitLimit || one.data.length < 5) return reasons.computeLimit
  return view(one.data).getUint32(1, true) > limits.computeUnitsMax ? reasons.computeLimitHigh : undefined
}

const computePriceFault = (transaction: SvmTransaction, one: SvmInstruction, limits: FeeLimits) => {
  if (programOf(transaction, one) !== computeBudgetProgram) return reasons.computePrice
  if (one.data[0] !== setComputeUnitPrice || one.data.length < 9) return reasons.computePrice
  const microLamports = view(one.data).getBigUint64(1, true)
  return microLamports > BigInt(limits.priorityFeeMax) ? reasons.computePriceHigh : undefined
}

const programOf = (transaction: SvmTransaction, { program }: SvmInstruction) => transaction.accounts[program]

const view = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength)

/** The programs and instructions that a payment may use; their addresses are the same on every Solana network. */
export const tokenProgram = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"
const token2022Program = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb"
const associatedTokenProgram = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL"
export const computeBudgetProgram = "ComputeBudget111111111111111111111111111111"
export const memoProgram = "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"
/**
 * Wallets add its assertions after a transfer, to protect their owner from a transaction that does more than it shows.
 */
const lighthouseProgram = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95"

/** The first byte of the data, by program. */
export const setComputeUnitLimit = 2
export const setComputeUnitPrice = 3
export const transferChecked = 12

const marker = Buffer.from("ProgramDerivedAddress")
const keptMax = 64
const kept = new Map<string, string>()

/** All three in base58; `undefined` if one of them is not an address. */
export const associatedTokenAccount = (owner: string, tokenProgram: string, mint: string): string | undefined => {
  const key = `${owner} ${tokenProgram} ${mint}`
  const known = kept.get(key)
  if (known !== undefined) return known
  const seeds = [owner, tokenProgram, mint].map(decodeAddress)
  const program = decodeAddress(associatedTokenProgram)
  if (seeds.includes(undefined) || program === undefined) return undefined
  const derived = derive(
    seeds.flatMap((seed) => seed ?? []),
    program
  )
  if (derived === undefined) return undefined
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value ?? "")
  kept.set(key, derived)
  return derived
}

/**
 * The first hash, counting down, that is not a point: half of all hashes are points, so 256 tries practically never
 * fail. By hand, because kit's own answer is a promise.
 */
const derive = (seeds: ReadonlyArray<Uint8Array>, program: Uint8Array): string | undefined => {
  for (let bump = 255; bump >= 0; bump -= 1) {
    const hash = createHash("sha256")
    for (const seed of seeds) hash.update(seed)
    const address = encodeBase58(hash.update(Uint8Array.of(bump)).update(program).update(marker).digest())
    if (isOffCurveAddress(address as Address)) return address
  }
  return undefined
}
