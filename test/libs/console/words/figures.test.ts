import { describe, expect, it } from "vitest"
import {
  bytes,
  clipped,
  countOf,
  duration,
  figure,
  percent,
  rate,
  relative
} from "../../../../libs/console/words/index.ts"

const now = Date.parse("2026-11-24T12:00:00Z")

describe("numbers and times in words", () => {
  it.each([
    [0, "now"],
    [999, "now"],
    [12_000, "12 s ago"],
    [-180_000, "in 3 min"],
    [7_200_000, "2 h ago"],
    [-172_800_000, "in 2 d"]
  ])("says a moment %d ms ago as %s", (agoMs, words) => {
    expect(relative(now - agoMs, now)).toBe(words)
  })

  it.each([
    [0, "0 ms"],
    [0.84, "840 µs"],
    [12, "12 ms"],
    [1_500, "1.5 s"],
    [119_000, "119 s"],
    [900_000, "15 min"],
    [7_200_000, "2 h"]
  ])("says a length of %d ms as %s", (ms, words) => {
    expect(duration(ms)).toBe(words)
  })

  it.each([
    [0, "0 B"],
    [512, "512 B"],
    [1_234, "1.23 kB"],
    [5_000_000_000, "5 GB"]
  ])("says %d bytes as %s", (value, words) => {
    expect(bytes(value)).toBe(words)
  })

  it("keeps three figures, and all of a thousand", () => {
    expect([0.0512, 12.345, 1_234.5].map(figure)).toEqual(["0.0512", "12.3", "1,235"])
  })

  it("says one and many, a rate, and that a rate is not known", () => {
    expect([countOf(1, "event"), countOf(1_200, "event"), rate(3), rate(null)]).toEqual([
      "1 event",
      "1,200 events",
      "3/s",
      "–"
    ])
  })

  it("cuts a text at its length with an ellipsis", () => {
    expect([clipped("orchard", 7), clipped("orchards", 7)]).toEqual(["orchard", "orchar…"])
  })
})

describe("a share", () => {
  it.each([
    [1, "100 %"],
    [0.999_99, "99.9 %"],
    [0.9876, "98.8 %"],
    [0.5, "50 %"],
    [0.000_01, "0.1 %"],
    [0, "0 %"]
  ])("of %d is %s, and only all is all and none is none", (share, text) => expect(percent(share)).toBe(text))
})
