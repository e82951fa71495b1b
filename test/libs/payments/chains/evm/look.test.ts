import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type EvmNode } from "../../../../../libs/payments/chains/evm/EvmNode.ts"
import { look } from "../../../../../libs/payments/chains/evm/look.ts"
import type { EvmPayment } from "../../../../../libs/payments/chains/evm/payment.ts"
import type { UptoPayment } from "../../../../../libs/payments/chains/evm/upto/payment.ts"
import { lookForUpto } from "../../../../../libs/payments/chains/evm/upto/settle.ts"

const endSeconds = 1_000n
const validBeforeMs = Number(endSeconds) * 1_000
const options = { logBlocksMax: 100n, logPagesMax: 1 }
const payer = `0x${"a".repeat(40)}`
const asset = `0x${"d".repeat(40)}`

/** A chain on which nothing is used, whose last final block is of this time. */
const nodeAt = (timestamp: bigint) =>
  ({
    call: () => Effect.succeed("0x0"),
    block: () => Effect.succeed({ number: 9n, timestamp, baseFeeWei: 0n })
  }) as unknown as EvmNode

const exact = { payer, asset, validBeforeMs, authorization: { validBefore: endSeconds, nonce: `0x${"7".repeat(64)}` } }
const upto = { payer, asset, validBeforeMs, permit: { deadline: endSeconds, nonce: 7n } }
const looks = {
  exact: (node: EvmNode) => look(node, options, exact as unknown as EvmPayment, null),
  upto: (node: EvmNode) => lookForUpto(node, options, upto as unknown as UptoPayment, null)
}

describe("an unused payment whose time is over", () => {
  it.effect.each([
    ["exact", "in a block before its end", -1n, "Undecided"],
    ["exact", "in a block of its end, which takes it no more", 0n, "Expired"],
    ["upto", "in a block before its deadline", -1n, "Undecided"],
    ["upto", "in a block of its deadline, which still takes it", 0n, "Undecided"],
    ["upto", "in a block after its deadline", 1n, "Expired"]
  ] as const)("by %s, where the chain is final %s", ([scheme, _where, after, tag]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(validBeforeMs)
      assert.strictEqual((yield* looks[scheme](nodeAt(endSeconds + after)))._tag, tag)
    })
  )
})
