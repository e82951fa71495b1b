/** Why a payment on a chain of this family is refused, in the words that x402 clients and facilitators know. Pure. */
import { PaymentRefused, SettlementRefused } from "../errors.ts"
import { codeOf } from "../reasons.ts"

export type EvmReason =
  | "invalid_payload"
  | "invalid_payment_requirements"
  | "invalid_exact_evm_missing_eip712_domain"
  | "invalid_exact_evm_network_mismatch"
  | "eip6492_factory_not_allowed"
  | "invalid_exact_evm_signature"
  | "invalid_exact_evm_recipient_mismatch"
  | "invalid_exact_evm_payload_authorization_valid_before"
  | "invalid_exact_evm_payload_authorization_valid_after"
  | "invalid_exact_evm_payload_authorization_valid_too_long"
  | "invalid_exact_evm_payload_authorization_value_mismatch"
  | "asset_not_deployed_contract"
  | "invalid_exact_evm_eip3009_not_supported"
  | "invalid_exact_evm_nonce_already_used"
  | "invalid_exact_evm_insufficient_balance"
  | "invalid_exact_evm_transaction_simulation_failed"
  | "invalid_exact_evm_transaction_failed"
  | "invalid_exact_evm_transfer_event_mismatch"

export const refused = (reason: EvmReason, payer: string | null, detail?: string): PaymentRefused =>
  new PaymentRefused({ code: codeOf(reason), reason, payer, ...(detail === undefined ? {} : { detail }) })

export const settlementRefused = (reason: EvmReason, payer: string, transaction: string | null): SettlementRefused =>
  new SettlementRefused({ code: codeOf(reason), reason, payer, transaction })
