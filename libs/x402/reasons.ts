/**
 * From a reason, as schemes and facilitators spell it, to the code that tells a client what to do. Names differ
 * between implementations, so the table holds all that are in use; what it does not know is PAYMENT_INVALID. Pure.
 */
import type { PaymentCode } from "#contracts"

/** Reasons of our own, spelled as the protocol does. */
export const reason = {
  invalidPayload: "invalid_payload",
  invalidVersion: "invalid_x402_version",
  invalidScheme: "invalid_scheme",
  invalidNetwork: "invalid_network",
  invalidRequirements: "invalid_payment_requirements",
  nonceUsed: "nonce_already_used",
  exposure: "unsettled_payment_exists",
  unfunded: "insufficient_funds",
  denied: "payer_owes_an_uncollected_payment"
} as const

const evm = (name: string) => `invalid_exact_evm_${name}`
const svm = (name: string) => `invalid_exact_svm_${name}`

const replays: ReadonlySet<string> = new Set([
  reason.nonceUsed,
  evm("nonce_already_used"),
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
  // A transfer outside its window reverts just as one without funds does.
  evm("payload_authorization_valid_before"),
  evm("payload_authorization_valid_after"),
  // A clock that runs ahead of ours: what helps is the same.
  evm("payload_authorization_valid_too_long"),
  "expired_signature"
])

/** What a Solana simulation says in its message, where the reason is the same for all. */
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

/** `detail`: what a chain or facilitator said beside the reason. */
export const codeOf = (text: string, detail = ""): PaymentCode => {
  if (replays.has(text)) return "PAYMENT_REPLAY"
  if (unfunded.has(text)) return "PAYMENT_UNFUNDED"
  if (text === "BlockhashNotFound") return "PAYMENT_BLOCKHASH_STALE"
  if (!isSimulation(text)) return "PAYMENT_INVALID"
  return simulation.find(([pattern]) => pattern.test(detail))?.[1] ?? "PAYMENT_INVALID"
}

const words: ReadonlyArray<readonly [pattern: RegExp, words: string]> = [
  [/valid_too_long/u, "authorization valid for too long"],
  [/valid_before|expired/u, "authorization expired"],
  [/valid_after/u, "authorization not yet valid"],
  [/insufficient/u, "insufficient balance"],
  [/signature/u, "invalid signature"],
  [/nonce_already_used|duplicate|authorization_already_used/u, "authorization already used"],
  [/simulation/u, "transfer simulation failed"]
]

/** The reason with words that people, and clients that look for words, can read. */
export const explained = (text: string, detail?: string): string => {
  const found = words.find(([pattern]) => pattern.test(text))?.[1]
  const parts = [text, found, detail].filter((part) => part !== undefined && part !== "")
  return parts.join(": ").slice(0, 512)
}
