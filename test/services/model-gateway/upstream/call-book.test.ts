import { assert, describe, it } from "@effect/vitest"
import { quarterOf } from "#gateway/contract"
import { makeCallBook } from "../../../../services/model-gateway/upstream/Uptime.ts"

const now = Date.UTC(2026, 10, 25, 12, 7)
const quarter = quarterOf(now)

describe("the counts of a process between two writes", () => {
  it("are by model, provider, quarter and outcome", () => {
    const book = makeCallBook("one")
    book.count({ model: "a", outcome: "answered" }, now)
    book.count({ model: "a", outcome: "answered" }, now + 1)
    book.count({ model: "a", provider: "p", outcome: "failed" }, now)
    book.count({ model: "a", provider: "q", outcome: "limited" }, now)
    book.count({ model: "a", outcome: "leftAlone" }, now + 900_000)
    book.count({ model: "b", outcome: "failed" }, now)
    const [a, b] = book.batches()
    assert.deepStrictEqual(a?.calls, [
      [quarter, 2, 0, 0, 0],
      [quarter + 1, 0, 0, 1, 0]
    ])
    assert.deepStrictEqual(
      [...(a?.providers ?? [])],
      [
        ["p", [[quarter, 0, 1, 0, 0]]],
        ["q", [[quarter, 0, 0, 0, 1]]]
      ]
    )
    assert.deepStrictEqual([b?.model, b?.calls], ["b", [[quarter, 0, 1, 0, 0]]])
  })

  it("are the same batch until that is stored, and what comes meanwhile is in the next", () => {
    const book = makeCallBook("one")
    book.count({ model: "a", outcome: "answered" }, now)
    const [first] = book.batches()
    assert.isDefined(first)
    book.count({ model: "a", outcome: "failed" }, now)
    assert.deepStrictEqual(book.batches(), [first])
    book.stored(first)
    const [second] = book.batches()
    assert.isDefined(second)
    assert.deepStrictEqual(second.calls, [[quarter, 0, 1, 0, 0]])
    assert.isAbove(second.batch, first.batch)
    book.stored(second)
    assert.deepStrictEqual(book.batches(), [])
  })

  it("are one batch a model, however many calls there were", () => {
    const book = makeCallBook("one")
    const begunUs = process.threadCpuUsage().user
    for (let nth = 0; nth < 200_000; nth++) {
      book.count({ model: `m${nth % 3}`, outcome: "answered" }, now)
      book.count({ model: `m${nth % 3}`, provider: "p", outcome: "answered" }, now)
    }
    // A tenth of what a call may cost here at most; it is some hundred nanoseconds.
    assert.isBelow((process.threadCpuUsage().user - begunUs) / 200_000, 10)
    assert.lengthOf(book.batches(), 3)
  })
})
