import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Cell, ModelUptime, quarterOf, withBatch } from "#gateway/contract"
import { topology } from "#bus"

const now = Date.UTC(2026, 10, 25, 12, 7)

describe("the uptime of a model", () => {
  it("fits its bucket with every quarter and hour of twelve providers in it, and keeps those that were called last", () => {
    let record: ModelUptime | undefined
    const counts = [999_999, 9_999, 9_999, 9_999] as const
    const cells = Array.from({ length: 720 * 4 }, (_, ago): Cell => [quarterOf(now) - ago, ...counts])
    for (let nth = 0; nth < 3; nth++) {
      const providers = new Map(Array.from({ length: 8 }, (_, place) => [`provider-${nth}-${place}`, cells] as const))
      const shifted = new Map([...providers].map(([name, rows]) => [name, nth === 0 ? rows.slice(8) : rows] as const))
      record = withBatch(
        record,
        { writer: `writer-${nth}`, batch: nth, model: "demo/echo", calls: cells, providers: shifted },
        now
      )
    }
    if (record === undefined) return assert.fail("nothing was counted")
    assert.lengthOf(record.providers, 12)
    assert.isFalse(record.providers.some(({ provider }) => provider.startsWith("provider-0")))
    const text = JSON.stringify(Schema.encodeSync(ModelUptime)(record))
    const { valueBytesMax } = topology.buckets.find(({ name }) => name === "model-uptime") ?? { valueBytesMax: 0 }
    assert.isAtMost(text.length, valueBytesMax)
  })
})
