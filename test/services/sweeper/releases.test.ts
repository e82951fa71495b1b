import { assert, describe, it } from "@effect/vitest"
import { untoldEnds } from "../../../services/sweeper/releases.ts"
import { itemRow, minuteMs, nowMs, releaseRow, uuid } from "./rows.ts"

const linked = (number: number, state: string, updatedAtMs = nowMs - 2 * minuteMs) =>
  itemRow({ id: uuid(number), state, updatedAtMs, sequence: 100 + number, summary: { releaseId: uuid(900) } })
const told = (release: ReturnType<typeof releaseRow>, items: ReadonlyArray<ReturnType<typeof itemRow>>) =>
  untoldEnds({ releases: [release], items, nowMs, patienceMs: minuteMs }).map(({ command }) => command)

describe("a release", () => {
  it("that knows its items' states gets no command", () => {
    const release = releaseRow({ openCount: 1, doneCount: 1, failedCount: 1 })
    assert.deepStrictEqual(told(release, [linked(1, "Working"), linked(2, "Done"), linked(3, "AuditFailed")]), [])
  })

  it("gets a missed end", () => {
    const release = releaseRow({ openCount: 2 })
    assert.deepStrictEqual(told(release, [linked(1, "Working"), linked(2, "Cancelled")]), [
      { _tag: "ReturnWorkItem", workItemId: uuid(1) },
      { _tag: "EndWorkItem", workItemId: uuid(2), outcome: "cancelled" }
    ])
  })

  it("gets the return of an item", () => {
    const release = releaseRow({ failedCount: 1 })
    assert.deepStrictEqual(told(release, [linked(1, "Queued")]), [{ _tag: "ReturnWorkItem", workItemId: uuid(1) }])
  })

  it("is left to the log's followers for a while after an item changed", () => {
    assert.deepStrictEqual(told(releaseRow({ openCount: 1 }), [linked(1, "Done", nowMs - 1_000)]), [])
  })

  it("may know retired items", () => {
    assert.deepStrictEqual(told(releaseRow({ openCount: 1, doneCount: 30 }), [linked(1, "Working")]), [])
  })
})
