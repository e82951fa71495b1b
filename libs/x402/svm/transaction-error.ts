/**
 * What the chain's error of a transaction means for its payer. The shapes are those of Solana's JSON-RPC: a name
 * (`"BlockhashNotFound"`), or an object with the name as its one key (`{"InstructionError":[2,{"Custom":1}]}`).
 * Faults of our own account and of a busy cluster are never the payer's. Pure.
 */
import type { PaymentCode } from "#contracts"
import { transferIndex } from "./instructions.ts"

export type ErrorMeaning =
  | { readonly _tag: "Refused"; readonly code: PaymentCode }
  /** The transfer found no token account: the payer's, or the one that we are paid into. */
  | { readonly _tag: "AccountMissing" }
  /** Says nothing of the payment; `detail` is for the operator. */
  | { readonly _tag: "NotThePayers"; readonly detail: string }

const refused = (code: PaymentCode): ErrorMeaning => ({ _tag: "Refused", code })

const ofOurAccount = new Set(["AccountNotFound", "InsufficientFundsForFee", "InvalidAccountForFee"])

const ofTheCluster = new Set([
  "AccountInUse",
  "ClusterMaintenance",
  "CommitCancelled",
  "ProgramCacheHitMaxLimit",
  "ResanitizationNeeded",
  "WouldExceedAccountDataBlockLimit",
  "WouldExceedAccountDataTotalLimit",
  "WouldExceedMaxAccountCostLimit",
  "WouldExceedMaxBlockCostLimit",
  "WouldExceedMaxVoteCostLimit"
])

/** What the token programs say of an account that does not exist, by their version. */
const ofMissingAccount = new Set([
  "IncorrectProgramId",
  "InvalidAccountData",
  "InvalidAccountOwner",
  "UninitializedAccount"
])

// Of the token programs: InsufficientFunds and AccountFrozen.
const cannotPay = new Set([1, 17])

export const meaningOf = (error: unknown): ErrorMeaning => {
  const name = nameOf(error)
  if (name === "AlreadyProcessed") return refused("PAYMENT_REPLAY")
  if (name === "BlockhashNotFound") return refused("PAYMENT_BLOCKHASH_STALE")
  if (ofOurAccount.has(name) || isRentOfFeePayer(error)) {
    return { _tag: "NotThePayers", detail: `the fee payer's account cannot pay (${name}): it needs SOL` }
  }
  if (ofTheCluster.has(name)) return { _tag: "NotThePayers", detail: `the cluster takes nothing now (${name})` }
  return name === "InstructionError" ? meaningOfInstruction(error) : refused("PAYMENT_INVALID")
}

const meaningOfInstruction = (error: unknown): ErrorMeaning => {
  const [index, cause] = pair(field(error, "InstructionError"))
  if (index !== transferIndex) return refused("PAYMENT_INVALID")
  if (ofMissingAccount.has(nameOf(cause))) return { _tag: "AccountMissing" }
  const custom = field(cause, "Custom")
  return refused(typeof custom === "number" && cannotPay.has(custom) ? "PAYMENT_UNFUNDED" : "PAYMENT_INVALID")
}

const isRentOfFeePayer = (error: unknown) => field(field(error, "InsufficientFundsForRent"), "account_index") === 0

const nameOf = (error: unknown): string => {
  if (typeof error === "string") return error
  if (typeof error !== "object" || error === null) return ""
  return Object.keys(error)[0] ?? ""
}

const field = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Object.getOwnPropertyDescriptor(value, name)?.value : undefined

const pair = (value: unknown): readonly [unknown, unknown] =>
  Array.isArray(value) ? [value[0], value[1]] : [null, null]
