import { assert, describe, it } from "@effect/vitest"
import { skewOf } from "../../../libs/bus/trials.ts"

describe("a clock beside the broker's", () => {
  it.each([
    ["agrees while the way of the messages explains the difference", 1_000, 1_400, 1_200, 0],
    ["agrees at both ends", 1_000, 1_400, 1_000, 0],
    ["agrees at both ends", 1_000, 1_400, 1_400, 0],
    ["is ahead of one that answered before it was asked", 61_000, 61_010, 1_000, 60_000],
    ["is behind one that answered after its answer was read", 1_000, 1_010, 61_000, -59_990]
  ])("%s", (_, askedMs, readMs, answeredMs, expected) => {
    assert.strictEqual(skewOf({ askedMs, answeredMs, readMs }), expected)
  })
})
