import { assert, describe, it } from "@effect/vitest"
import { amplify } from "../../../../../libs/speech/engine/worker/serve.ts"

describe("an amplified sound", () => {
  it("is exact below full scale, and bent where it would clip", () => {
    const pcm = Int16Array.from([1000, -1000, 20_000, -20_000, 32_767])

    amplify(pcm, 6)

    assert.deepStrictEqual([...pcm.subarray(0, 2)], [1995, -1995])
    assert.isTrue(pcm.every((sample) => Math.abs(sample) <= 32_767))
    assert.isAbove(pcm[4] ?? 0, pcm[2] ?? 0)
  })
})
