import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { eventRelayPlace } from "#actors"
import { readSlowest, retirements } from "../../../services/sweeper/retention.ts"
import { dayMs, itemRow, nowMs, releaseRow, uuid } from "./rows.ts"

const ended = (number: number, daysAgo: number) =>
  itemRow({ id: uuid(number), deadlinesMs: { ended: nowMs - daysAgo * dayMs } })

describe("the history that may be purged", () => {
  const cursors = { relay: 40, followUps: 30, spend: 20, views: 10 }
  const slowestOf = Effect.fnUntraced(function* (places: Partial<typeof cursors>) {
    const { data, headers } = eventRelayPlace.codec.encode({
      cursor: { position: places.relay ?? 0 },
      pending: []
    } as never)
    const header = (name: string) => headers.find(([key]) => key === name)?.[1]
    const last = { subject: eventRelayPlace.subject, sequence: 1, storedAtMs: 0, data, header }
    const entry = (position: number | undefined) =>
      Effect.succeed(
        position === undefined ? Option.none() : Option.some({ key: "k", revision: 1, value: { position } })
      )
    return yield* readSlowest(
      { last: () => Effect.succeed(places.relay === undefined ? Option.none() : Option.some(last)) } as never,
      {
        open: (bucket: string) =>
          Effect.succeed({ get: () => entry(bucket === "spend" ? places.spend : places.followUps) })
      } as never,
      { freshness: () => ({ sequence: places.views ?? 0 }) } as never
    )
  })

  it.effect("ends where the slowest of its four readers is, whichever that is", () =>
    Effect.gen(function* () {
      for (const name of ["relay", "followUps", "spend", "views"] as const)
        assert.strictEqual(yield* slowestOf({ ...cursors, views: 50, [name]: 7 }), 7, name)
    })
  )

  it.effect("is none while one of them has not begun", () =>
    Effect.gen(function* () {
      for (const name of ["relay", "followUps", "spend", "views"] as const) {
        const { [name]: _, ...others } = cursors
        assert.strictEqual(yield* slowestOf(others), 0, name)
      }
    })
  )
})

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
