import { assert, describe, it } from "@effect/vitest"
import { beginCursor, type FanOutCursor } from "../../../services/webhook-dispatcher/fan-out-cursor.ts"
import { changeRoster, emptyRoster, fingerprint, type Roster } from "../../../services/webhook-dispatcher/roster.ts"

const hourMs = 3_600_000
const endpoint = (id: string) => ({ id, name: `endpoint ${id}` })
const roster = (entries: Record<string, number | null>): Roster => ({
  endpoints: Object.fromEntries(
    Object.entries(entries).map(([id, absentSinceMs]) => [id, { name: `endpoint ${id}`, absentSinceMs }])
  )
})

describe("a changed configuration", () => {
  it("starts a new endpoint now, not at the beginning of the log", () => {
    const change = changeRoster(
      roster({ a: null }),
      beginCursor(50),
      [endpoint("a"), endpoint("n")],
      80,
      0,
      24 * hourMs
    )
    assert.deepStrictEqual(change.cursor.next, { n: 81 })
    assert.deepStrictEqual(change.archived, [])
  })

  it("gives a new endpoint not even the one event that was not yet given out to the others", () => {
    const change = changeRoster(roster({ a: null }), beginCursor(50), [endpoint("a"), endpoint("n")], 51, 0, hourMs)
    assert.deepStrictEqual(change.cursor.next, { n: 52 })
  })

  it("has nothing to hold back on the very first start", () => {
    const change = changeRoster(emptyRoster, beginCursor(80), [endpoint("a")], 80, 0, 24 * hourMs)
    assert.deepStrictEqual(change.cursor.next, {})
  })

  it("parks an endpoint that has gone, and remembers since when", () => {
    const change = changeRoster(roster({ a: null, b: null }), beginCursor(50), [endpoint("a")], 80, 7, 24 * hourMs)
    assert.deepStrictEqual(change.cursor.next, { b: 51 })
    assert.strictEqual(change.roster.endpoints["b"]?.absentSinceMs, 7)
  })

  it("lets one that comes back within the day go on where it was", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 } }
    const change = changeRoster(roster({ b: 7 }), cursor, [endpoint("b")], 90, hourMs, 24 * hourMs)
    assert.deepStrictEqual(change.cursor.next, { b: 51 })
    assert.isNull(change.roster.endpoints["b"]?.absentSinceMs)
  })

  it("archives one that was gone for longer, and forgets it", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 } }
    const change = changeRoster(roster({ a: null, b: 0 }), cursor, [endpoint("a")], 90, 24 * hourMs, 24 * hourMs)
    assert.deepStrictEqual(change.archived, [endpoint("b")])
    assert.deepStrictEqual(change.cursor.next, {})
    assert.hasAllKeys(change.roster.endpoints, ["a"])
  })

  it("is known by its set of endpoints, in whatever order", () => {
    assert.strictEqual(fingerprint([endpoint("a"), endpoint("b")]), fingerprint([endpoint("b"), endpoint("a")]))
    assert.notStrictEqual(fingerprint([endpoint("a")]), fingerprint([endpoint("a"), endpoint("b")]))
  })
})
