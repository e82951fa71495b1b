import { assert, describe, it } from "@effect/vitest"
import { codeOf, explained } from "#payments"
import { computed } from "../../support/processor-time.ts"

describe("a reason", () => {
  it.each([
    ["PAYMENT_REPLAY", "nonce_already_used", ""],
    ["PAYMENT_REPLAY", "invalid_exact_evm_nonce_already_used", ""],
    ["PAYMENT_REPLAY", "duplicate_settlement", ""],
    ["PAYMENT_REPLAY", "invalid_exact_svm_transaction_simulation_failed", "AlreadyProcessed"],
    ["PAYMENT_UNFUNDED", "insufficient_funds", ""],
    ["PAYMENT_UNFUNDED", "invalid_exact_evm_insufficient_balance", ""],
    ["PAYMENT_UNFUNDED", "invalid_exact_evm_transaction_simulation_failed", ""],
    ["PAYMENT_UNFUNDED", "invalid_exact_evm_payload_authorization_valid_before", ""],
    ["PAYMENT_UNFUNDED", "invalid_exact_evm_payload_authorization_valid_after", ""],
    ["PAYMENT_UNFUNDED", "invalid_exact_svm_transaction_simulation_failed", '{"InstructionError":[2,{"Custom":1}]}'],
    ["PAYMENT_UNFUNDED", "invalid_exact_svm_transaction_simulation_failed", "InstructionError [2, {Custom: 1}]"],
    ["PAYMENT_UNFUNDED", "invalid_exact_svm_transaction_simulation_failed", "AccountNotFound"],
    ["PAYMENT_BLOCKHASH_STALE", "invalid_exact_svm_transaction_simulation_failed", '"BlockhashNotFound"'],
    ["PAYMENT_BLOCKHASH_STALE", "invalid_exact_svm_transaction_simulation_failed", "block height exceeded"],
    ["PAYMENT_INVALID", "invalid_exact_svm_transaction_simulation_failed", '{"InstructionError":[2,{"Custom":17}]}'],
    ["PAYMENT_INVALID", "invalid_exact_svm_transaction_simulation_failed", ""],
    ["PAYMENT_INVALID", "invalid_exact_evm_signature", ""],
    ["PAYMENT_INVALID", "invalid_payload", "BlockhashNotFound"],
    ["PAYMENT_INVALID", "something nobody has heard of", ""],
    ["PAYMENT_INVALID", "constructor", ""]
  ] as const)("is %s for %s %s", (code, reason, detail) => {
    assert.strictEqual(codeOf(reason, detail), code)
  })

  it.each([
    ["invalid_exact_evm_insufficient_balance", "insufficient"],
    ["invalid_exact_evm_transaction_simulation_failed", "simulation"],
    ["invalid_exact_evm_signature", "invalid signature"],
    ["invalid_exact_evm_payload_authorization_valid_before", "expired"]
  ])("%s is explained with the word %s that clients look for", (reason, word) => {
    assert.include(explained(reason), word)
    assert.include(explained(reason, "more"), "more")
  })

  it("of any length is searched in its beginning alone", () => {
    const simulation = "transaction_simulation_failed"
    assert.strictEqual(codeOf(simulation, `${"x".repeat(4_000)} already been processed`), "PAYMENT_REPLAY")
    assert.strictEqual(codeOf(simulation, `${"x".repeat(5_000)} already been processed`), "PAYMENT_INVALID")
    assert.isAtMost(explained("x".repeat(1_000_000), "y".repeat(1_000_000)).length, 512)
    for (const word of ["InstructionError", '"InstructionError":[2', "insufficient ", "block "]) {
      const [short = 0, long = 0] = [1_000, 100_000].map((times) => {
        // In one piece before it is searched.
        const detail = Buffer.from(word.repeat(times)).toString()
        return Math.min(...[1, 2, 3].map(() => computed(() => codeOf(simulation, detail)).processorMs))
      })
      assert.isAtMost(long, 5 * short + 20, word)
    }
  })
})
