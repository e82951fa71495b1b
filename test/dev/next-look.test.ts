import { assert, describe, it } from "@effect/vitest"
import { nextLookMs } from "../../dev/fixtures/next-look.ts"

describe("the pause before the next look at a fact", () => {
  it.each([
    ["its least in a short wait", 0, 5, 5],
    ["its least until a twentieth of the wait is longer", 100, 5, 5],
    ["a twentieth of a longer wait", 1_000, 5, 50],
    ["a twentieth of a longer wait, whatever its least", 1_000, 20, 50],
    ["a tenth of a second at most", 60_000, 20, 100]
  ] as const)("is %s", (_name, waitedMs, pauseMsMin, pauseMs) => {
    assert.strictEqual(nextLookMs(waitedMs, pauseMsMin), pauseMs)
  })
})
