import { Schema } from "effect"
import { assert, describe, it } from "@effect/vitest"
import { addressOfKey, readSettlerKey } from "../../../../../libs/x402/chains/evm/signature.ts"
import { feesFor } from "../../../../../libs/x402/chains/evm/transaction.ts"
import { bytesOf, hexOf } from "../../../../../libs/x402/chains/evm/encoding.ts"
import { tryAggregate, wordsOf } from "../../../../../libs/x402/chains/evm/token.ts"
import { chainIdOf } from "../../../../../libs/x402/chains/evm/settings.ts"
import { isMethodMissing, sendVerdict } from "../../../../../libs/x402/chains/evm/send.ts"
import { asset } from "../../../../../dev/fixtures/evm/terms.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))
const key = bytesOf(`0x${"4c".repeat(32)}`)

describe("the offered fee", () => {
  it.each([
    [100n, 10n, 1_000n, { feeMaxWei: 210n, tipWei: 10n }],
    [100n, 10n, 150n, { feeMaxWei: 150n, tipWei: 10n }],
    [100n, 10n, 110n, { feeMaxWei: 110n, tipWei: 10n }],
    [100n, 10n, 109n, undefined],
    [0n, 0n, 0n, { feeMaxWei: 0n, tipWei: 0n }]
  ])("is twice the base fee and the tip, within the cap: %s, %s, %s", (base, tip, cap, expected) => {
    assert.deepStrictEqual(feesFor(base, tip, cap), expected)
  })
})

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

describe("a settler's key", () => {
  it("is read from hex and gives its address", () => {
    const read = readSettlerKey("eip155:84532", ` 0x${"4c".repeat(32)}\n`)

    assert.strictEqual(read._tag, "Success")
    if (read._tag === "Success") assert.strictEqual(read.success.address, addressOfKey(key))
  })

  it.each(["", "0x12", "4c".repeat(33), "zz".repeat(32), "00".repeat(32), "ff".repeat(32)])(
    "is refused without showing any of it: %s",
    (secret) => {
      const read = readSettlerKey("eip155:84532", secret)

      assert.strictEqual(read._tag, "Failure")
      if (read._tag === "Failure" && secret !== "") assert.notInclude(read.failure, secret)
    }
  )
})

describe("the name of an EVM network", () => {
  it("holds the chain's id", () => {
    assert.strictEqual(chainIdOf("eip155:8453"), 8_453n)
    assert.strictEqual(chainIdOf("eip155:1"), 1n)
  })

  it.each(["eip155:0", "eip155:08453", "eip155:", "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "eip155:8453 "])(
    "is refused when it is %j",
    (name) => assert.throws(() => chainIdOf(name), RangeError)
  )
})

describe("a multicall", () => {
  it.prop("gives no result, or as many words as requested", [Bytes], ([bytes]) => {
    const words = wordsOf(hexOf(Uint8Array.from(bytes)), 2)

    assert.isTrue(words === undefined || words.length === 2)
  })

  it("gives no result for an empty answer", () => {
    assert.isUndefined(wordsOf("0x", 2))
  })

  it("is whole words after the selector", () => {
    assert.strictEqual((tryAggregate(asset, [new Uint8Array(36), new Uint8Array(68)]).length - 4) % 32, 0)
  })
})
