import { describe, expect, it } from "vitest"
import {
  emptyList,
  received,
  resumed,
  type EventRow,
  followedFrom,
  linesMax,
  merged,
  taken,
  withOlder
} from "../../../../page/screens/events/feed.ts"

const row = (sequence: number, envelope: string | null = null): EventRow => ({
  sequence,
  event: "work_item.done",
  storedAt: "2026-11-24T12:00:00.000Z",
  entity: null,
  projectId: null,
  bytes: 2,
  envelope
})
const rows = (...sequences: ReadonlyArray<number>) => sequences.map((sequence) => row(sequence))
const sequences = (lines: ReadonlyArray<EventRow>) => lines.map(({ sequence }) => sequence)

describe("the live list of events", () => {
  it.each([
    { there: [], came: [1, 2], shows: [2, 1] },
    { there: [2, 1], came: [3, 4], shows: [4, 3, 2, 1] },
    { there: [4, 3], came: [2, 3, 5], shows: [5, 4, 3, 2] }
  ])("has $there, takes $came and shows $shows", ({ there, came, shows }) => {
    expect(sequences(merged(rows(...there), rows(...came)))).toEqual(shows)
  })

  it("lets an event that comes with its envelope stand for the one without", () => {
    expect(merged(rows(2, 1), [row(2, "{}")])[0]?.envelope).toBe("{}")
  })

  it("forgets the oldest beyond its limit, however many come at once", () => {
    const many = rows(...Array.from({ length: 3 * linesMax }, (_, index) => index + 1))
    const lines = merged([], many)
    expect([lines.length, lines[0]?.sequence]).toEqual([linesMax, 3 * linesMax])
  })

  it.each([
    { what: "fits", there: [], came: linesMax, skipped: 0, passed: 0 },
    { what: "is more than fits", there: [], came: linesMax + 7, skipped: 0, passed: 7 },
    { what: "pushes others away", there: [-2, -3], came: linesMax, skipped: 0, passed: 2 },
    { what: "was there already", there: [1], came: linesMax, skipped: 0, passed: 0 },
    { what: "follows on what nobody could read", there: [], came: 1, skipped: 900, passed: 900 }
  ])("counts $passed that are not shown when what comes $what", ({ there, came, skipped, passed }) => {
    const batch = rows(...Array.from({ length: came }, (_, index) => index + 1))
    expect(taken({ lines: rows(...there), passedCount: 0 }, batch, skipped).passedCount).toBe(passed)
  })

  it("adds to what went by before, and does not count older pages that were read by hand", () => {
    const kept = { lines: rows(...Array.from({ length: 2 * linesMax }, (_, index) => -index)), passedCount: 30 }
    expect(taken(kept, rows(1, 2)).passedCount).toBe(32)
  })

  it("holds what comes while it is paused, and loses none of it", () => {
    const before = received(emptyList, rows(1, 2), 0)
    const held = received(received({ ...before, isPaused: true }, rows(3), 0), rows(5), 1)
    expect([sequences(held.kept.lines), sequences(held.waiting.lines)]).toEqual([
      [2, 1],
      [5, 3]
    ])
    const after = received(resumed(held), rows(6), 0)
    expect([sequences(after.kept.lines), after.kept.passedCount, after.waiting.lines]).toEqual([[6, 5, 3, 2, 1], 1, []])
  })

  it("puts an older page below, each event once", () => {
    expect(sequences(withOlder(rows(9, 8), rows(8, 7, 6)))).toEqual([9, 8, 7, 6])
  })

  it.each([
    [[], 0, 0],
    [[], 7, 7],
    [[9, 5], 9, 4],
    [[9, 5], 12, 4],
    [[9, 5], 90_000, 90_000],
    [[90_000, 5], 90_001, 90_001]
  ])("after a page of %j, read when the last event was %i, it follows from %i", (page, through, from) => {
    expect(followedFrom(rows(...page), through)).toBe(from)
  })
})
