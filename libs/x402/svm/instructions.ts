/**
 * Which instructions a payment may be made of, in which order: compute unit limit, compute unit price, the transfer,
 * then up to four memos and Lighthouse assertions. Nothing else runs on our fee: accounts are not created, and the
 * fee payer stands in no instruction, so that nothing it owns can move. Pure.
 */
import { Result } from "effect"
import {
  computeBudgetProgram,
  lighthouseProgram,
  memoProgram,
  setComputeUnitLimit,
  setComputeUnitPrice,
  token2022Program,
  tokenProgram,
  transferChecked
} from "./programs.ts"
import { reasons } from "./reasons.ts"
import type { SvmInstruction, SvmTransaction } from "./transaction.ts"

export interface FeeLimits {
  /** Micro-lamports per compute unit. */
  readonly priorityFeeMax: number
  readonly computeUnitsMax: number
  readonly requiredSignaturesMax: number
}

/** The transfer that a payment consists of; addresses in base58. */
export interface SvmTransfer {
  readonly tokenProgram: string
  readonly source: string
  readonly mint: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
}

/** Place of the transfer among the instructions; the chain names it in its errors. */
export const transferIndex = 2
const instructionsMin = 3
const instructionsMax = 7

/** The reason why not, or the transfer and the memos behind it. */
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

/** What stands behind the transfer and is neither memo nor assertion. */
export const foreignInstruction = (transaction: SvmTransaction): string | undefined => {
  const behind = transaction.instructions.slice(instructionsMin)
  const index = behind.findIndex((one) => {
    const program = programOf(transaction, one)
    return program !== memoProgram && program !== lighthouseProgram
  })
  return index < 0 ? undefined : reasons.unknownInstruction[index]
}

/** The fee payer is account 0. A Lighthouse write, say, takes its rent from whom it names as payer. */
export const usesFeePayer = (transaction: SvmTransaction): boolean =>
  transaction.instructions.some(({ accounts }) => accounts.includes(0))

/** Any transfer with a check of the mint, wherever it stands; `undefined` for other instructions. */
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
