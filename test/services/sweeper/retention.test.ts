import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { eventRelayPlace, Views } from "#actors"
import { Kv, StreamReader } from "#bus"
import { Configuration } from "#configuration"
import { purgeSweep, readSlowest, retirements } from "../../../services/sweeper/retention.ts"
import { Checkpoints } from "../../../services/sweeper/sweeps.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { recorder } from "../../support/recorder.ts"
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

describe("the purge of retired entities", () => {
  /** LOG, whose records are stored a day apart, with all of its readers at one place. */
  const world = (records: ReadonlyArray<readonly [subject: string, isRetired: boolean]>, readAll: number) => {
    const record = recorder()
    const stream = memoryStream(record)
    const utf8 = new TextEncoder()
    for (const [subject, isRetired] of records) {
      const { sequence } = stream.store(subject, utf8.encode(JSON.stringify({ isRetired, title: '"isRetired":true' })))
      stream.messages[sequence - 1] = {
        ...(stream.messages[sequence - 1] ?? assert.fail()),
        storedAtMs: sequence * dayMs
      }
    }
    const { data, headers } = eventRelayPlace.codec.encode({ cursor: { position: readAll }, pending: [] } as never)
    const last = { data, header: (name: string) => headers.find(([key]) => key === name)?.[1] }
    const reader = Layer.effect(
      StreamReader,
      Effect.map(StreamReader, (well) => ({ ...well, last: () => Effect.succeedSome(last as never) }))
    ).pipe(Layer.provide(stream.layer))
    const entry = Effect.succeedSome({ key: "k", revision: 1, value: { position: readAll } })
    const stored: Array<number> = []
    const services = Layer.mergeAll(
      reader,
      Layer.succeed(Kv, { open: () => Effect.succeed({ get: () => entry }) } as never),
      Layer.succeed(Views, { freshness: () => ({ sequence: readAll }) } as never),
      Layer.succeed(Checkpoints, {
        read: () =>
          Effect.sync(() =>
            stored.length === 0
              ? Option.none()
              : Option.some({ key: "purge", revision: 1, value: { _tag: "Purge", position: stored.at(-1) } })
          ),
        set: (_key: string, _held: unknown, { position }: { readonly position: number }) =>
          Effect.sync(() => void stored.push(position))
      } as never),
      Configuration.layerOf({})
    )
    const runs = (times: number) =>
      Effect.gen(function* () {
        const { begin } = yield* purgeSweep
        const once = yield* begin
        return yield* Effect.forEach(Array.from({ length: times }), () => once)
      }).pipe(Effect.provide(services))
    return { runs, stored, calls: record.calls, left: () => stream.messages.map(({ sequence }) => sequence) }
  }
  const log = [
    ["log.a", false],
    ["log.b", false],
    ["log.a", true],
    ["log.b", true],
    ["log.c", false]
  ] as const

  it.effect("removes what came before an entity's last record, 31 days after that, and resumes from there", () =>
    Effect.gen(function* () {
      const { runs, stored, left, calls } = world(log, 5)
      yield* TestClock.adjust(34 * dayMs)
      assert.deepStrictEqual(yield* runs(2), [{ "purged-record": 1 }, { "purged-record": 0 }])
      assert.deepStrictEqual([left(), stored], [[2, 3, 4, 5], [3]])
      yield* TestClock.adjust(dayMs - 1)
      yield* runs(1)
      assert.deepStrictEqual(left(), [2, 3, 4, 5])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(yield* runs(1), [{ "purged-record": 1 }])
      assert.deepStrictEqual(
        [left(), stored],
        [
          [3, 4, 5],
          [3, 4]
        ]
      )
      assert.deepStrictEqual(
        calls.filter((call) => call.startsWith("purge")),
        ["purge log.a below 3", "purge log.b below 4"]
      )
    })
  )

  it.effect("removes nothing above the slowest reader of the log", () =>
    Effect.gen(function* () {
      const { runs, stored, left } = world(log, 3)
      yield* TestClock.adjust(400 * dayMs)
      assert.deepStrictEqual(yield* runs(2), [{ "purged-record": 1 }, {}])
      assert.deepStrictEqual([left(), stored], [[2, 3, 4, 5], [3]])
    })
  )
})
