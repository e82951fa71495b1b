import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { summaryReader, type ViewRow } from "#actors"

const row = (id: string, summary: ViewRow["summary"]): ViewRow => ({
  entity: "jar",
  id,
  project: null,
  state: "Open",
  createdAtMs: 1,
  updatedAtMs: 1,
  deadlinesMs: {},
  sequence: 1,
  summary
})

describe("the summaries of rows", () => {
  const read = summaryReader(Schema.Struct({ coins: Schema.Int }))

  it("are read by their kind's schema, without those of another version", () => {
    const seen = read([row("a", { coins: 3, more: true }), row("b", { coins: "three" }), row("c", {})])
    assert.deepStrictEqual(
      seen.map(({ id, state, summary }) => [id, state, summary]),
      [["a", "Open", { coins: 3 }]]
    )
  })

  it("are read once for each row, however often it is looked at", () => {
    let reads = 0
    const Counted = Schema.Struct({ coins: Schema.Int.check(Schema.makeFilter(() => ++reads > 0)) })
    const readCounted = summaryReader(Counted)
    const rows = [row("a", { coins: 1 }), row("b", { coins: "two" }), row("c", { coins: 3 })]
    for (let look = 0; look < 10; look++) assert.strictEqual(readCounted(rows).length, 2)
    assert.strictEqual(reads, 2)
  })
})
