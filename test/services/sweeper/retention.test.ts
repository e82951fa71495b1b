import { assert, describe, it } from "@effect/vitest"
import { retirements } from "../../../services/sweeper/retention.ts"
import { dayMs, itemRow, nowMs, releaseRow, uuid } from "./rows.ts"

const ended = (number: number, daysAgo: number) =>
  itemRow({ id: uuid(number), deadlinesMs: { ended: nowMs - daysAgo * dayMs } })

describe("retention", () => {
  it("retires entities long after their end, the oldest end first, and no live ones", () => {
    const workItemsBeforeMs = nowMs - 90 * dayMs
    const releasesBeforeMs = nowMs - 365 * dayMs
    const release = { ...releaseRow(), deadlinesMs: { ended: releasesBeforeMs } }
    const planned = retirements({
      workItems: [ended(1, 90), ended(2, 200), ended(3, 89), itemRow({ id: uuid(4) })],
      releases: [release, { ...release, deadlinesMs: { ended: releasesBeforeMs + 1 } }],
      workItemsBeforeMs,
      releasesBeforeMs
    })
    assert.deepStrictEqual(
      planned.map(({ entity, id, command }) => ({ entity, id, command })),
      [
        { entity: "workitem", id: uuid(2), command: { _tag: "Retire", endedBeforeMs: workItemsBeforeMs } },
        { entity: "workitem", id: uuid(1), command: { _tag: "Retire", endedBeforeMs: workItemsBeforeMs } },
        { entity: "release", id: release.id, command: { _tag: "Retire", endedBeforeMs: releasesBeforeMs } }
      ]
    )
  })
})
