import { assert, describe, it } from "vitest"
import { barsOf, barText, ofDay, ofMonth, stripText } from "../../../../page/screens/models/uptime.ts"

const from = "2026-11-24T12:15:00.000Z"
const spanAt = (at: string, answered: number, failed = 0, leftAlone = 0) => ({
  at,
  answered,
  failed,
  leftAlone,
  limited: 7
})
const historyOf = (...series: ReadonlyArray<ReturnType<typeof spanAt>>) => ({
  uptime: null,
  calls: 0,
  answered: 0,
  failed: 0,
  leftAlone: 0,
  limited: 0,
  from,
  spanSeconds: 900,
  series
})

describe("the uptime of a model on the page", () => {
  it("has a bar for each hour of the day, of the four quarters in it, and leaves out what is beyond", () => {
    const bars = barsOf(
      historyOf(
        spanAt("2026-11-24T12:00:00.000Z", 9),
        spanAt(from, 3),
        spanAt("2026-11-24T13:00:00.000Z", 1, 1, 2),
        spanAt("2026-11-24T13:15:00.000Z", 5),
        spanAt("2026-11-25T12:00:00.000Z", 0, 1)
      ),
      ofDay
    )
    assert.lengthOf(bars, 24)
    assert.deepInclude(bars[0], { at: Date.parse(from), state: "some", answered: 4, calls: 7 })
    assert.deepInclude(bars[1], { state: "all", answered: 5, calls: 5 })
    assert.deepInclude(bars[2], { state: "none", calls: 0 })
    assert.deepInclude(bars[23], { state: "some", answered: 0, calls: 1 })
    assert.lengthOf(barsOf(historyOf(), ofMonth), 30)
  })

  it("says in words what its bars show", () => {
    const bars = barsOf(
      historyOf(spanAt(from, 3), spanAt("2026-11-24T13:15:00.000Z", 9, 1), spanAt("2026-11-24T14:15:00.000Z", 1)),
      ofDay
    )
    const text = stripText(bars, "hour")
    assert.match(
      text,
      /^2 hours with every call answered, 21 without calls, 1 with failures: \d\d:15: 9 of 10 calls answered$/u
    )
    assert.match(barText(bars[2] ?? assert.fail(), "hour"), /^\d\d:15: 1 call, all answered$/u)
    assert.match(barText(bars[5] ?? assert.fail(), "hour"), /^\d\d:15: no calls$/u)
    const many = barsOf(
      historyOf(...Array.from({ length: 8 }, (_, nth) => spanAt(`2026-11-24T${13 + nth}:15:00.000Z`, 0, 1))),
      ofDay
    )
    assert.match(stripText(many, "hour"), /8 with failures: (?:[^;]+; ){4}[^;]+, 3 earlier$/u)
  })
})
