import { assert, describe, it } from "@effect/vitest"
import { firstSeen, recentKeys } from "../../../../libs/payments/claims/Claims.ts"
import { checkedPayment } from "../../../support/payments.ts"

describe("recently seen keys", () => {
  it("are known until their time is over", () => {
    const keys = recentKeys({ keysMax: 2, keptMs: 100 })
    keys.add("a", 0)
    assert.deepStrictEqual([keys.has("a", 99), keys.has("a", 100), keys.has("b", 0)], [true, false, false])
  })

  it("are forgotten oldest first above the memory's bound, counted from their latest appearance", () => {
    const keys = recentKeys({ keysMax: 2, keptMs: 100 })
    keys.add("a", 0)
    keys.add("b", 1)
    keys.add("a", 2)
    keys.add("c", 3)
    assert.deepStrictEqual([keys.has("a", 4), keys.has("b", 4), keys.has("c", 4)], [true, false, true])
  })
})

describe("a new payment", () => {
  it("is first seen once", () => {
    const { isFirst } = firstSeen()
    assert.deepStrictEqual([isFirst(checkedPayment("one"), 0), isFirst(checkedPayment("one"), 0)], [true, false])
    assert.isTrue(isFirst(checkedPayment("two"), 0))
  })

  it("of a refused payer is checked first for a while, others' are not", () => {
    const { isFirst, refused } = firstSeen()
    refused(checkedPayment("one"), 0)
    assert.deepStrictEqual(
      [isFirst(checkedPayment("two"), 59_999), isFirst(checkedPayment("three"), 60_000)],
      [false, true]
    )
    assert.isTrue(isFirst(checkedPayment("four", "bob"), 0))
  })
})
