import { assert, describe, it } from "@effect/vitest"
import { windowOf } from "../../../services/speech-api/credit.ts"

const megabytes = (count: number) => count * 1_048_576

describe("the window of a session", () => {
  it.each([
    [32, 0, 240_000],
    [32, 1, 240_000],
    [32, 69, 240_000],
    [32, 70, 239_674],
    [32, 500, 33_554],
    [32, 10_000, 12_000],
    [1, 1, 240_000],
    [1, 100, 12_000]
  ])("of %s MB shared by %s sessions is %s samples", (size, sessions, samples) => {
    assert.strictEqual(windowOf(megabytes(size), sessions), samples)
  })

  it("keeps all sessions together within the bound, down to half a second each", () => {
    for (let sessions = 1; sessions <= 1_398; sessions++) {
      assert.isAtMost(windowOf(megabytes(32), sessions) * sessions * 2, megabytes(32), String(sessions))
    }
  })
})
