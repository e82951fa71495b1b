import { assert, describe, it } from "@effect/vitest"
import { skewOf } from "../../../libs/bus/trials.ts"

describe("a clock beside the broker's", () => {
  it.each([
    ["agrees while the way of the message explains the difference", 1_000, 1_400, 1_200, 0],
    ["agrees at both ends", 1_000, 1_400, 1_000, 0],
    ["agrees at both ends", 1_000, 1_400, 1_400, 0],
    ["is ahead of one that stored it before it was sent", 61_000, 61_010, 1_000, 60_000],
    ["is behind one that stored it after it was read", 1_000, 1_010, 61_000, -59_990]
  ])("%s", (_, sentMs, readMs, storedMs, expected) => {
    assert.strictEqual(skewOf({ sentMs, readMs, storedMs }), expected)
  })
})
