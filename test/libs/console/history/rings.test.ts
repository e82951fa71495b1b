import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { History } from "../../../../libs/console/contract/api/history.ts"
import { hour, minute, rings } from "../../../../libs/console/history/rings.ts"
import { figuresOf, type HistorySpan, rowOf, spanOf, sumOf } from "../../../../libs/console/history/spans.ts"

const minuteMs = 60_000
const first = 30_000_000
const nowMs = (first + 10) * minuteMs

const span = (number: number, things: HistorySpan["things"], seconds = 60): HistorySpan => ({ number, seconds, things })
const Row = Schema.Union([
  Schema.Tuple([]),
  Schema.Tuple([Schema.Int.check(Schema.isBetween({ minimum: 9, maximum: 1e6 })), Schema.Literals([0, 9])])
])
const Puts = Schema.Array(
  Schema.Struct({
    isMinute: Schema.Boolean,
    number: Schema.Int.check(Schema.isBetween({ minimum: first - 3_000, maximum: first + 10 })),
    things: Schema.Record(Schema.Literals(["endpoint/a", "endpoint/b", "chain/c"]), Row)
  })
)
const Range = Schema.Literals(["hour", "day", "month"])

const asked = { kind: "endpoint", nowMs, leftOut: 0, present: undefined } as const

describe("the rings", () => {
  it("show what was seen, and leave out what was not: a gap is no zero", () => {
    const kept = rings()
    kept.put(minute, span(first, { "endpoint/shop": [120, 30, 12, 85] }))
    kept.put(minute, span(first + 1, { "endpoint/shop": [] }))
    kept.put(minute, span(first + 3, { "endpoint/other": [6, 0] }))
    const { items, count, spanSeconds } = kept.view({ ...asked, range: "hour" })
    assert.deepInclude({ count, spanSeconds }, { count: 2, spanSeconds: 60 })
    assert.deepStrictEqual(
      items.map(({ id, calls }) => [id, calls]),
      [
        ["shop", 120],
        ["other", 6]
      ]
    )
    assert.deepStrictEqual(items[0]?.points, [
      { at: new Date(first * minuteMs).toISOString(), perSecond: 2, success: 0.75, p50Ms: 12, p95Ms: 85 },
      { at: new Date((first + 1) * minuteMs).toISOString(), perSecond: 0, success: null, p50Ms: null, p95Ms: null }
    ])
  })

  it("keep of two spans of one minute the one that saw more", () => {
    const kept = rings()
    kept.put(minute, span(first, { "endpoint/shop": [60, 0] }))
    kept.put(minute, span(first, { "endpoint/shop": [5, 0] }, 5))
    assert.strictEqual(kept.view({ ...asked, range: "hour" }).items[0]?.calls, 60)
  })

  it("write over what is a day old, and take nothing older than what they have", () => {
    const kept = rings()
    kept.put(minute, span(first + minute.kept, { "endpoint/shop": [1, 0] }))
    kept.put(minute, span(first, { "endpoint/shop": [9, 0] }))
    const later = { ...asked, nowMs: (first + minute.kept) * minuteMs, range: "day" } as const
    assert.strictEqual(kept.view(later).items[0]?.calls, 1)
  })

  it("make an hour of its minutes once it is over, and show the present one before", () => {
    const kept = rings()
    const hourNumber = 500_000
    for (const index of [0, 1, 59]) {
      kept.put(minute, span(hourNumber * 60 + index, { "chain/base": [60, 6, 10 * (index + 1), 100] }))
    }
    assert.deepStrictEqual(kept.hoursDue(hourNumber * hour.ms), [])
    const [due] = kept.hoursDue((hourNumber + 1) * hour.ms)
    assert.deepStrictEqual(due, { number: hourNumber, seconds: 180, things: { "chain/base": [180, 18, 210, 100] } })
    const view = { kind: "chain", range: "month", leftOut: 0, present: undefined } as const
    assert.strictEqual(kept.view({ ...view, nowMs: (hourNumber + 0.99) * hour.ms }).items[0]?.calls, 180)
    if (due !== undefined) kept.put(hour, due)
    assert.deepStrictEqual(kept.hoursDue((hourNumber + 1) * hour.ms), [])
    assert.strictEqual(kept.view({ ...view, nowMs: (hourNumber + 5) * hour.ms }).items[0]?.calls, 180)
  })

  it("show the minute that is not over", () => {
    const kept = rings()
    const present = span(first + 10, { "endpoint/shop": [8, 0] }, 4)
    const [shop] = kept.view({ ...asked, range: "hour", present }).items
    assert.deepInclude(shop?.points.at(-1), { perSecond: 2, success: 1 })
  })

  it("forget a thing that has no call in all that is kept", () => {
    const kept = rings()
    kept.put(minute, span(first, { "endpoint/shop": [1, 0] }))
    kept.put(minute, span(first + 2_000, { "endpoint/shop": [], "endpoint/other": [1, 0] }))
    kept.prune((first + 2_000) * minuteMs)
    assert.deepStrictEqual([...kept.known()], ["endpoint/other"])
  })

  it.prop("answer within their bounds, whatever was put into them", [Puts, Range], ([puts, range]) => {
    const kept = rings()
    for (const { isMinute, number, things } of puts) {
      kept.put(isMinute ? minute : hour, span(isMinute ? number : Math.floor(number / 60), things))
    }
    const view = kept.view({ ...asked, range })
    assert.isTrue(Schema.is(History)(view))
    for (const { points } of view.items) {
      for (const { at } of points) assert.isAtLeast(Date.parse(at), Date.parse(view.from))
    }
  })
})

describe("the span of what was counted", () => {
  const counted = (used: Readonly<Record<string, number>>, isSeen = true) => ({
    number: 1,
    seconds: 60,
    used: new Map(
      Object.entries(used).map(([id, calls]) => [id, { calls, failed: 0, p50Ms: Number.NaN, p95Ms: Number.NaN }])
    ),
    isSeen: () => isSeen
  })

  it.each([
    [true, { a: [], b: [3, 0] }],
    [false, { b: [3, 0] }]
  ])("has what is known and idle only if somebody could see it: %s", (isSeen, things) => {
    assert.deepStrictEqual(spanOf(counted({ b: 3 }, isSeen), new Set(["a"])).span.things, things)
  })

  it("lets the busiest in where there is not room for all, and names the others", () => {
    const known = new Set(Array.from({ length: 499 }, (_, index) => `endpoint/${index}`))
    const { span, leftOut } = spanOf(counted({ few: 1, many: 9, "endpoint/1": 2 }), known)
    assert.deepStrictEqual(leftOut, ["few"])
    assert.deepStrictEqual(span.things["many"], [9, 0])
    assert.strictEqual(Object.keys(span.things).length, 500)
  })

  it.each<[ReadonlyArray<number>]>([[[]], [[5, 1]], [[5, 1, 10, 20]]])("reads the row %j as it was written", (row) => {
    assert.deepStrictEqual(rowOf(figuresOf(row)), row)
  })

  it("sums up to means by calls, of those that were timed", () => {
    const all = [
      [1, 0, 10, 10],
      [3, 1, 30, 50],
      [100, 0]
    ].map(figuresOf)
    assert.deepStrictEqual(sumOf(all), { calls: 104, failed: 1, p50Ms: 25, p95Ms: 40 })
  })
})
