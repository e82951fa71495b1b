import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Cell,
  lastDay,
  lastMonth,
  type ModelUptime,
  modelUptimeKey,
  quarterOf,
  type UptimeBatch,
  uptimeOf,
  withBatch
} from "#gateway/contract"

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const now = Date.UTC(2026, 10, 25, 12, 7)

const batchOf = (number: number, more: Partial<UptimeBatch> = {}): UptimeBatch => ({
  writer: "one",
  batch: number,
  model: "demo/echo",
  calls: [[quarterOf(now), 1, 0, 0, 0]],
  providers: new Map(),
  ...more
})
const after = (before: ModelUptime | undefined, batch: UptimeBatch, nowMs = now) => withBatch(before, batch, nowMs)
const must = (record: ModelUptime | undefined) => {
  assert.isDefined(record)
  return record
}

describe("the uptime of a model", () => {
  it.each([
    [0, 0],
    [15 * minute - 1, 0],
    [15 * minute, 1],
    [hour, 4],
    [day, 96]
  ])("has an instant of %d ms in the quarter %d", (at, quarter) => assert.strictEqual(quarterOf(at), quarter))

  it.each([
    [{ answered: 0, failed: 0, leftAlone: 0, limited: 0 }, null],
    [{ answered: 0, failed: 0, leftAlone: 0, limited: 9 }, null],
    [{ answered: 4, failed: 0, leftAlone: 0, limited: 9 }, 1],
    [{ answered: 0, failed: 1, leftAlone: 1, limited: 0 }, 0],
    [{ answered: 3, failed: 1, leftAlone: 0, limited: 0 }, 0.75],
    [{ answered: 2, failed: 1, leftAlone: 1, limited: 0 }, 0.5]
  ])("of %o is %s", (counts, uptime) => assert.strictEqual(uptimeOf(counts), uptime))

  it("adds what several processes counted in the same quarter, by quarter and by hour", () => {
    const providers = new Map<string, ReadonlyArray<Cell>>([["plain", [[quarterOf(now), 0, 2, 0, 0]]]])
    const first = must(after(undefined, batchOf(1, { calls: [[quarterOf(now), 1, 2, 3, 4]], providers })))
    const earlier: Cell = [quarterOf(now - 30 * minute), 5, 0, 0, 0]
    const second = must(
      after(first, batchOf(1, { writer: "two", calls: [earlier, [quarterOf(now), 10, 20, 30, 40]], providers }))
    )

    assert.deepStrictEqual(second.quarters, [earlier, [quarterOf(now), 11, 22, 33, 44]])
    const elevenToTwelve = Math.floor((now - 30 * minute) / hour)
    assert.deepStrictEqual(second.hours, [
      [elevenToTwelve, 5, 0, 0, 0],
      [elevenToTwelve + 1, 11, 22, 33, 44]
    ])
    assert.deepStrictEqual(second.providers[0]?.quarters, [[quarterOf(now), 0, 4, 0, 0]])
  })

  it("counts a batch once, however often it is written, until its writer has been silent for an hour", () => {
    const once = must(after(undefined, batchOf(1)))
    assert.isUndefined(after(once, batchOf(1)))
    const twice = must(after(once, batchOf(2)))
    assert.isUndefined(after(twice, batchOf(1)))
    assert.isUndefined(after(twice, batchOf(2)))
    const others = must(after(twice, batchOf(1, { writer: "two" }), now + hour - 1))
    assert.lengthOf(others.writers, 2)
    assert.lengthOf(must(after(others, batchOf(2, { writer: "two" }), now + hour)).writers, 1)
  })

  it("is of 24 hours by quarters and of thirty days by days, and forgets what is older", () => {
    const at = (ms: number): Cell => [quarterOf(now - ms), 1, 1, 0, 0]
    const calls = [at(31 * day), at(30 * day), at(29 * day), at(day), at(day - 15 * minute), at(0)]
    const record = must(after(undefined, batchOf(1, { calls })))

    const seen = lastDay(record, now)
    assert.strictEqual(seen.fromMs, Date.UTC(2026, 10, 24, 12, 15))
    assert.deepStrictEqual(
      seen.series.map(({ atMs }) => atMs),
      [Date.UTC(2026, 10, 24, 12, 15), Date.UTC(2026, 10, 25, 12, 0)]
    )
    assert.deepStrictEqual(seen.counts, { answered: 2, failed: 2, leftAlone: 0, limited: 0 })
    const month = lastMonth(record, now)
    assert.strictEqual(month.spanMs, day)
    assert.strictEqual(month.fromMs + 30 * day, Date.UTC(2026, 10, 25, 13))
    assert.deepStrictEqual(month.counts, { answered: 4, failed: 4, leftAlone: 0, limited: 0 })
    assert.deepStrictEqual(
      month.series.map(({ atMs, answered }) => [(atMs - month.fromMs) / day, answered]),
      [
        [0, 1],
        [28, 2],
        [29, 1]
      ]
    )

    const later = must(after(record, batchOf(2, { calls: [] }), now + 40 * day))
    assert.deepStrictEqual([later.quarters, later.hours], [[], []])
    assert.deepStrictEqual(lastMonth(later, now + 40 * day).series, [])
  })

  const count = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
  const ago = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
  const Batches = Schema.Array(
    Schema.Struct({
      writer: Schema.Literals(["one", "two", "three"]),
      cells: Schema.Array(Schema.Tuple([ago, count, count, count, count])),
      tries: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 }))
    })
  )

  it.prop("loses and doubles nothing, whoever writes in which order and how often", [Batches], ([batches]) => {
    const sums = [0, 0, 0, 0]
    let record: ModelUptime | undefined
    for (const [number, { writer, cells, tries }] of batches.entries()) {
      const calls = cells.map(([quarters, ...counts]): Cell => [quarterOf(now) - quarters, ...counts])
      for (const [, ...counts] of calls) counts.forEach((added, place) => (sums[place] = (sums[place] ?? 0) + added))
      for (let nth = 0; nth < tries; nth++) record = after(record, batchOf(number, { writer, calls })) ?? record
    }
    if (record === undefined) return
    const { answered, failed, leftAlone, limited } = lastDay(record, now).counts
    assert.deepStrictEqual([answered, failed, leftAlone, limited], sums)
    assert.deepStrictEqual(lastMonth(record, now).counts, lastDay(record, now).counts)
  })

  it("keeps the twelve providers that were called last", () => {
    let record: ModelUptime | undefined
    for (let nth = 0; nth < 3; nth++) {
      const cells: ReadonlyArray<Cell> = [[quarterOf(now) - (nth === 0 ? 8 : 0), 1, 0, 0, 0]]
      const providers = new Map(Array.from({ length: 6 }, (_, place) => [`provider-${nth}-${place}`, cells] as const))
      record = after(record, batchOf(nth, { providers }))
    }
    const kept = must(record).providers.map(({ provider }) => provider)
    assert.lengthOf(kept, 12)
    assert.isFalse(kept.some((provider) => provider.startsWith("provider-0")))
  })

  it.each([
    ["demo/echo", "demo.echo"],
    ["a/b.c:1/d", "a.b=2ec=3a1.d"],
    ["a/b//c", "a.b.=.c"]
  ])("of %s has the key %s", (model, key) => assert.strictEqual(modelUptimeKey(model), key))

  it("has a key for the longest id that a configuration may have", () => {
    assert.match(modelUptimeKey(`a${".".repeat(63)}/b${":".repeat(127)}`), /^[\w.=-]+$/u)
  })
})
