import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { progressGrainMs } from "#pipeline"
import { readyFor } from "./item-at-work.ts"

const span = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The longest that the item's runner was on record as silent, while it reported every so often. */
const longestSilenceMs = (everyMs: number, timeoutMs: number) => {
  const item = readyFor("work")
  item.does(item.dispatch("work", { progressGrainMs: progressGrainMs(everyMs, timeoutMs) }))
  let longest = 0
  for (let report = 0; report < 60; report++) {
    item.passes(everyMs)
    longest = Math.max(longest, item.nowMs() - (item.state().dispatch?.lastProgressAtMs ?? 0))
    item.reports("progress", {})
  }
  return longest
}

describe("progress", () => {
  it.prop(
    "keeps a runner alive that reports as often as required, however short the timeout",
    [span(100, 60_000), span(200, 60_000)],
    ([everyMs, patienceMs]) => {
      const timeoutMs = everyMs + patienceMs
      assert.isBelow(longestSilenceMs(everyMs, timeoutMs), timeoutMs)
    },
    { arbitrary: { runs: 40 } }
  )

  it("is recorded at most every ten seconds when timeouts are long, because each sign of life is a record", () => {
    assert.strictEqual(progressGrainMs(30_000, 180_000), 10_000)
    const item = readyFor("work")
    item.takes("work")
    const before = item.records.length
    for (let second = 0; second < 60; second++) {
      item.passes(999)
      item.reports("progress", {})
    }
    assert.strictEqual(item.records.length - before, 6)
  })
})
