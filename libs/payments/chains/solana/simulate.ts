/** Asks the chain whether it would make the transfer now: one call, and a second only if an account is missing. */
import { Effect } from "effect"
import type { PaymentCode } from "#payments/contract"
import { ChainUnavailable, PaymentRefused } from "../../errors.ts"
import type { CheckedSvmPayment } from "./payment.ts"
import { reasons, transferIndex } from "./instructions.ts"
import type { SolanaNode } from "./SolanaNode.ts"
import { withFeePayerSignature } from "./transaction.ts"
import type { Funds } from "../../scheme.ts"

const operation = "simulateTransaction"
// "Invalid params": the node could not read the transaction. Any other rejection is the node's own problem.
const invalidParams = -32602
// The chain's errors are a few dozen characters; nodes' texts can have any length.
const detailLengthMax = 200
// Fills the fee payer's place until settlement: nodes accept any bytes there while signatures are not verified.
const emptySignature = new Uint8Array(64)

export const simulatePayment = Effect.fn("Svm.simulate")(function* (rpc: SolanaNode, checked: CheckedSvmPayment) {
  const error = yield* rpc.simulate(unsigned(checked)).pipe(
    Effect.catchTags({
      RpcRejected: (rejected) => {
        const refusal =
          rejected.code === invalidParams ? refuse(checked, "PAYMENT_INVALID", rejected.detail) : unavailable(rejected)
        return Effect.fail(refusal)
      },
      RpcUnavailable: (failed) => Effect.fail(unavailable(failed))
    })
  )
  if (error === null) return
  return yield* yield* explain(rpc, checked, error)
})

/** Whether the chain has already run this exact message, which it remembers for as long as it accepts its blockhash. */
export const isProcessed = (rpc: SolanaNode, checked: CheckedSvmPayment): Effect.Effect<boolean, ChainUnavailable> =>
  rpc.simulate(unsigned(checked)).pipe(
    Effect.map((error) => error === "AlreadyProcessed"),
    Effect.mapError((error) => new ChainUnavailable({ operation, detail: error.message }))
  )

const unsigned = ({ transaction }: CheckedSvmPayment) => withFeePayerSignature(transaction, emptySignature)

/**
 * The refusal for a transaction's error. A missing account of the payer is an empty wallet; a missing receiving account
 * is the operator's fault.
 */
export const explain = Effect.fnUntraced(function* (
  rpc: SolanaNode,
  checked: CheckedSvmPayment,
  error: unknown
): Effect.fn.Return<PaymentRefused | ChainUnavailable, ChainUnavailable> {
  const meaning = meaningOf(error)
  if (meaning._tag === "Refused") return refuse(checked, meaning.code, error)
  if (meaning._tag === "NotThePayers") return new ChainUnavailable({ operation, detail: meaning.detail })
  const { destination } = checked.transfer
  const [isThere] = yield* rpc.exist([destination])
  if (isThere === true) return refuse(checked, "PAYMENT_UNFUNDED", error)
  const detail = `${checked.payTo} has no token account ${destination} of ${checked.asset}`
  return new ChainUnavailable({ operation, detail })
})

const refuse = (checked: CheckedSvmPayment, code: PaymentRefused["code"], error: unknown) =>
  new PaymentRefused({
    code,
    reason: reasons.simulation,
    payer: checked.payer,
    detail: JSON.stringify(error).slice(0, detailLengthMax)
  })

const unavailable = (error: { readonly message: string }) => new ChainUnavailable({ operation, detail: error.message })

/**
 * What the chain's error of a transaction means for its payer. The shapes are those of Solana's JSON-RPC: a name
 * (`"BlockhashNotFound"`), or an object with the name as its only key (`{"InstructionError":[2,{"Custom":1}]}`). Faults
 * of our own account and of a busy cluster are never the payer's. Pure.
 */
type ErrorMeaning =
  | { readonly _tag: "Refused"; readonly code: PaymentCode }
  /** The transfer found no token account: the payer's, or the receiving one. */
  | { readonly _tag: "AccountMissing" }
  /** Says nothing about the payment; `detail` is for the operator. */
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

/** The token programs' errors for an account that does not exist, by their version. */
const ofMissingAccount = new Set([
  "IncorrectProgramId",
  "InvalidAccountData",
  "InvalidAccountOwner",
  "UninitializedAccount"
])

// Errors of the token programs: InsufficientFunds and AccountFrozen.
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

/**
 * The balance of the payer's token account, in the freshest state. A missing account holds nothing. No node reports
 * which payments have been made from it.
 */
export const fundsOf = (
  rpc: SolanaNode,
  { transfer }: Pick<CheckedSvmPayment, "transfer">
): Effect.Effect<Funds, ChainUnavailable> =>
  Effect.map(rpc.tokenBalance(transfer.source), (balance) => ({ balance, spent: null }))
