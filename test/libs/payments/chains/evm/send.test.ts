import { assert, describe, it } from "@effect/vitest"
import { isMethodMissing, sendVerdict } from "../../../../../libs/payments/chains/evm/send.ts"

describe("a node's message about a transaction", () => {
  it.each([
    ["already known", "waiting"],
    ["known transaction: 0xabc", "waiting"],
    ["AlreadyKnown", "waiting"],
    ["transaction already imported", "waiting"],
    ["The transaction was added to the mempool but wasn't processed within 20s", "waiting"],
    ["nonce too low: next nonce 12, tx nonce 11", "outrun"],
    ["replacement transaction underpriced", "outrun"],
    ["insufficient funds for gas * price + value", "not taken"],
    ["max fee per gas less than block base fee", "not taken"],
    ["intrinsic gas too low", "not taken"],
    ["exceeds block gas limit", "not taken"]
  ] as const)("%s: %s", (text, verdict) => {
    assert.strictEqual(sendVerdict(text), verdict)
  })

  it("may mean that it does not support waiting", () => {
    assert.isTrue(isMethodMissing(-32_601, "whatever"))
    assert.isTrue(isMethodMissing(-32_000, "the method eth_sendRawTransactionSync does not exist/is not available"))
    assert.isFalse(isMethodMissing(-32_000, "already known"))
  })
})
