import { assert, describe, it } from "@effect/vitest"
import {
  barsPath,
  chartText,
  figuresOf,
  linePath,
  mostText,
  placesOf,
  type Point
} from "../../../../page/screens/history/history.ts"

const from = "2026-11-30T08:00:00.000Z"
const point = (
  minute: number,
  perSecond: number,
  success: number | null = null,
  p95Ms: number | null = null
): Point => ({
  at: new Date(Date.parse(from) + minute * 60_000).toISOString(),
  perSecond,
  success,
  p50Ms: p95Ms,
  p95Ms
})

describe("the history of a thing", () => {
  it("has a place for each span, and none in it where nobody looked", () => {
    const range = { from, to: "2026-11-30T08:03:20.000Z", spanSeconds: 60 }
    const places = placesOf(range, [point(0, 1), point(3, 2)])
    assert.deepStrictEqual(
      places.map((one) => one?.perSecond),
      [1, undefined, undefined, 2]
    )
  })

  it("is drawn with a hole where a value is missing", () => {
    assert.strictEqual(linePath([0, 1, undefined, 0.5, undefined], 10), "M0.4 10h0L1.4 0M3.4 5h0.6")
    assert.strictEqual(barsPath([0, 0.5], 10), "M1 10v-5h0.8v5z")
  })

  it.each([
    [[], "Last hour: nothing was seen"],
    [[point(0, 2, 1, 80)], "Last hour: now 2/s, 100 % succeeded, 95 of 100 within 80 ms; most at"],
    [[point(0, 4, 0.5), undefined, point(2, 0)], "Last hour: now 0/s; most at"]
  ])("is told in words: %#", (places, words) => {
    assert.include(chartText(places, "hour"), words)
  })

  it("tells the worst and the share that nobody saw", () => {
    const said = chartText([point(0, 4, 0.5), undefined, point(2, 0), point(3, 0)], "hour")
    assert.match(said, /worst at .* with 50 % succeeded; 25 % not seen/u)
  })

  it("says what its highest bar and line are", () => {
    assert.strictEqual(mostText([point(0, 4, 0.5, 80), point(1, 6)]), "up to 6/s, 80 ms")
    assert.strictEqual(mostText([point(0, 4)]), "up to 4/s")
  })

  it("sums up by calls", () => {
    assert.deepStrictEqual(figuresOf([point(0, 1, 1, 10), point(1, 3, 0.5, 30)]), {
      perSecond: 3,
      success: 0.625,
      p50Ms: 25,
      p95Ms: 25
    })
    assert.deepStrictEqual(figuresOf([]), { perSecond: null, success: null, p50Ms: null, p95Ms: null })
  })
})
