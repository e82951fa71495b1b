/**
 * Why a payment cannot continue, by what the caller does next: a refusal goes to the payer, a pending payment is looked
 * up on the chain again, and an unavailable chain is asked again later.
 */
import { Schema } from "effect"
import { PaymentCode } from "#payments/contract"

/** The payment is not valid. Nothing was sent to the chain. `reason` is the protocol's text; `detail` may say more. */
export class PaymentRefused extends Schema.TaggedError<PaymentRefused>()("PaymentRefused", {
  code: PaymentCode,
  reason: Schema.String,
  payer: Schema.NullOr(Schema.String),
  detail: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `payment refused: ${this.reason}`
  }
}

/** The chain did not answer, or its answer says nothing about the payment. */
export class ChainUnavailable extends Schema.TaggedError<ChainUnavailable>()("ChainUnavailable", {
  operation: Schema.String,
  detail: Schema.String
}) {
  override get message() {
    return `could not ${this.operation}: ${this.detail}`
  }
}

/** The configuration and the chain do not match; waiting does not help. */
export class ChainMismatch extends Schema.TaggedError<ChainMismatch>()("ChainMismatch", { detail: Schema.String }) {
  override get message() {
    return `the chain is not the one that is configured: ${this.detail}`
  }
}

/** The chain has refused the transfer for good; `transaction` is the one it refused, if it accepted one. */
export class SettlementRefused extends Schema.TaggedError<SettlementRefused>()("SettlementRefused", {
  code: PaymentCode,
  reason: Schema.String,
  payer: Schema.NullOr(Schema.String),
  transaction: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `settlement refused: ${this.reason}`
  }
}

/** Sent, or perhaps sent, and not confirmed. Never a reason to let the payer pay again. */
export class SettlementPending extends Schema.TaggedError<SettlementPending>()("SettlementPending", {
  transaction: Schema.NullOr(Schema.String),
  detail: Schema.String
}) {
  override get message() {
    return `settlement pending: ${this.detail}`
  }
}

/** Our own reasons, in the protocol's spelling. */
export const reason = {
  invalidPayload: "invalid_payload",
  invalidVersion: "invalid_x402_version",
  invalidScheme: "invalid_scheme",
  invalidNetwork: "invalid_network",
  invalidRequirements: "invalid_payment_requirements",
  nonceUsed: "nonce_already_used",
  exposure: "unsettled_payment_exists",
  unpaid: "payer_has_too_much_unpaid",
  newcomers: "new_payers_have_too_much_unpaid",
  unfunded: "insufficient_funds",
  denied: "payer_owes_an_uncollected_payment"
} as const

const evm = (name: string) => `invalid_exact_evm_${name}`
const channel = (name: string) => `invalid_batch_settlement_evm_${name}`
const svm = (name: string) => `invalid_exact_svm_${name}`

const replays: ReadonlySet<string> = new Set([
  reason.nonceUsed,
  evm("nonce_already_used"),
  "permit2_invalid_nonce",
  channel("cumulative_amount_mismatch"),
  channel("cumulative_below_claimed"),
  "duplicate_settlement",
  "invalid_transaction_state",
  "authorization_already_used",
  "AlreadyProcessed"
])

const unfunded: ReadonlySet<string> = new Set([
  "insufficient_funds",
  "insufficient_balance",
  evm("insufficient_balance"),
  evm("transaction_simulation_failed"),
  "permit2_insufficient_balance",
  "permit2_simulation_failed",
  "permit2_deadline_expired",
  "permit2_deadline_too_long",
  "permit2_not_yet_valid",
  // A transfer outside its window reverts just like one without funds.
  evm("payload_authorization_valid_before"),
  evm("payload_authorization_valid_after"),
  channel("insufficient_balance"),
  channel("cumulative_exceeds_balance"),
  channel("channel_not_found"),
  channel("deposit_simulation_failed"),
  channel("deposit_transaction_failed"),
  channel("payload_authorization_valid_before"),
  channel("payload_authorization_valid_after"),
  channel("permit2_deadline_expired"),
  // The payer's clock runs ahead of ours; the remedy is the same.
  evm("payload_authorization_valid_too_long"),
  "expired_signature"
])

/** Distinguishes Solana simulations by their message if the reason is the same for all. */
const simulation: ReadonlyArray<readonly [pattern: RegExp, code: PaymentCode]> = [
  [/AlreadyProcessed|already been processed/iu, "PAYMENT_REPLAY"],
  [/BlockhashNotFound|blockhash not found|block height exceeded/iu, "PAYMENT_BLOCKHASH_STALE"],
  [/"?InstructionError"?[^a-z]{0,12}2\D{0,8}\{?\s*"?Custom"?\s*:\s*"?1"?(?!\d)/iu, "PAYMENT_UNFUNDED"],
  [
    /insufficient (?:funds|lamports)|custom program error: 0x1\b|AccountNotFound|could not find account/iu,
    "PAYMENT_UNFUNDED"
  ]
]

const isSimulation = (text: string) =>
  text === svm("transaction_simulation_failed") || text === "transaction_simulation_failed"

const allowanceRequired: ReadonlySet<string> = new Set([
  "permit2_allowance_required",
  channel("permit2_allowance_required")
])

// A simulation's error and its logs are a few hundred characters; a facilitator can send any text.
const detailUnitsMax = 4_096

/** `detail`: the chain's or facilitator's text beside the reason. */
export const codeOf = (text: string, detail = ""): PaymentCode => {
  if (replays.has(text)) return "PAYMENT_REPLAY"
  if (unfunded.has(text)) return "PAYMENT_UNFUNDED"
  if (allowanceRequired.has(text)) return "PERMIT2_ALLOWANCE_REQUIRED"
  if (text === "BlockhashNotFound") return "PAYMENT_BLOCKHASH_STALE"
  if (!isSimulation(text)) return "PAYMENT_INVALID"
  const read = detail.slice(0, detailUnitsMax)
  return simulation.find(([pattern]) => pattern.test(read))?.[1] ?? "PAYMENT_INVALID"
}

const words: ReadonlyArray<readonly [pattern: RegExp, words: string]> = [
  [/too_long/u, "authorization valid for too long"],
  [/valid_before|expired/u, "authorization expired"],
  [/valid_after|not_yet_valid/u, "authorization not yet valid"],
  [/allowance/u, "the token is not approved for Permit2"],
  [/cumulative_amount_mismatch/u, "the voucher does not follow what the channel was charged"],
  [/cumulative_exceeds_balance/u, "the channel holds less than the voucher is for"],
  [/insufficient/u, "insufficient balance"],
  [/signature/u, "invalid signature"],
  [/nonce_already_used|invalid_nonce|duplicate|authorization_already_used/u, "authorization already used"],
  [/simulation/u, "transfer simulation failed"]
]

const explanationUnitsMax = 512

/** The reason, with words for people and for clients that search for words. */
export const explained = (reason: string, detail?: string): string => {
  const text = reason.slice(0, explanationUnitsMax)
  const found = words.find(([pattern]) => pattern.test(text))?.[1]
  const parts = [text, found, detail].filter((part) => part !== undefined && part !== "")
  return parts.join(": ").slice(0, explanationUnitsMax)
}
