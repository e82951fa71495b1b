/**
 * Reasons for refusing a Solana payment, in the words that x402 clients and facilitators know, and the gateway's code
 * (one of four) for each. The reasons of simulation and settlement depend on the chain's answer: see simulate.ts.
 */
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
  /** By place behind the transfer. */
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
