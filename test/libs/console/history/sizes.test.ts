/** How much the history of 500 busy things takes: in the bucket, and in the console's memory. */
import { assert, describe, it } from "@effect/vitest"
import { topology } from "#bus"
import { thingsKeptMax } from "#console/api"
import { hour, minute, rings } from "../../../../libs/console/history/rings.ts"
import { type HistorySpan, rowOf } from "../../../../libs/console/history/spans.ts"
import { happening, hourWith } from "../../../../libs/console/history/timeline.ts"

// The longest that an endpoint can have.
const longest = (index: number) => `endpoint/${String(index)}${"語".repeat(97)}`
const row = rowOf({ calls: 599_999, failed: 123_456, p50Ms: 1_234.5, p95Ms: 59_990.1 })
const things = Object.fromEntries(Array.from({ length: thingsKeptMax }, (_, index) => [longest(index), row]))
const spanAt = (number: number): HistorySpan => ({ number, seconds: 60.123, things })

const valueBytesMax = topology.buckets.find(({ name }) => name === "history")?.valueBytesMax ?? 0

describe("the history of 500 busy things with the longest names", () => {
  it("fits into a value of its bucket, a minute each", () => {
    assert.isBelow(Buffer.byteLength(JSON.stringify(spanAt(30_000_000))), valueBytesMax)
  })

  it("takes 18 MB of memory in all, for a day and thirty days", () => {
    const kept = rings()
    const before = process.memoryUsage().arrayBuffers
    for (let index = 0; index < 3 * minute.kept; index += 1) kept.put(minute, spanAt(30_000_000 + index))
    for (let index = 0; index < 2 * hour.kept; index += 1) kept.put(hour, spanAt(500_000 + index))
    assert.isBelow(process.memoryUsage().arrayBuffers - before, 18e6)
    assert.strictEqual(kept.known().size, thingsKeptMax)
  })

  it("has room for the longest hour of what happened", () => {
    const storm = Array.from({ length: 200 }, (_, index) =>
      happening({
        id: `${index}${"i".repeat(600)}`,
        at: "2026-11-30T10:00:00.000Z",
        kind: "act",
        change: "done",
        what: "ü".repeat(400),
        by: "b".repeat(300)
      })
    )
    assert.isBelow(Buffer.byteLength(JSON.stringify(hourWith(undefined, 494_962, storm))), valueBytesMax)
  })
})
