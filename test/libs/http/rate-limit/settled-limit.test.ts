import { assert, describe, it } from "@effect/vitest"
import { mergedLog, takeFromWindows } from "../../../../libs/http/rate-limit/settled-limit.ts"

const windows = [
  { name: "hour", limit: 3, windowMs: 1_000 },
  { name: "minute", limit: 2, windowMs: 100 }
] as const

describe("a take from several windows", () => {
  it("is kept once, for as long as the longest window", () => {
    assert.deepStrictEqual(takeFromWindows([], windows, 10), { decision: { _tag: "Taken" }, log: [10] })
    assert.deepStrictEqual(takeFromWindows([10, 950], windows, 1_020).log, [950, 1_020])
  })

  it("is refused by the first window that is full, the longest first, and changes nothing", () => {
    const byMinute = takeFromWindows([10, 20], windows, 50)
    assert.deepInclude(byMinute.decision, { _tag: "Refused", window: "minute", resetAtMs: 110 })
    assert.deepStrictEqual(byMinute.log, [10, 20])
    assert.deepInclude(takeFromWindows([10, 20, 30], windows, 50).decision, { window: "hour", resetAtMs: 1_010 })
  })
})

describe("a log from the store", () => {
  it("gets the takes that it lacks in order, and keeps the newest that any limit counts", () => {
    assert.deepStrictEqual(mergedLog([10, 30], [20], 5), [10, 20, 30])
    assert.deepStrictEqual(mergedLog([10, 30], [20, 40], 3), [20, 30, 40])
    assert.deepStrictEqual(mergedLog([], [], 3), [])
  })
})
