import { assert, describe, it } from "@effect/vitest"
import { emptyRoster, type FanOutCursor, type Roster } from "#webhooks"
import { beginCursor } from "#webhooks"
import { changeRoster, fingerprint } from "../../../../services/webhook-dispatcher/fan-out/roster.ts"

const hourMs = 3_600_000
const noneAtRunTime = { isMadeAtRunTime: () => false, isKnown: () => false }
const endpoint = (id: string) => ({ id, name: `endpoint ${id}` })
const roster = (entries: Record<string, number | null>): Roster => ({
  endpoints: Object.fromEntries(
    Object.entries(entries).map(([id, absentSinceMs]) => [id, { name: `endpoint ${id}`, absentSinceMs }])
  )
})

describe("a changed configuration", () => {
  it("starts a new endpoint now, not at the beginning of the log", () => {
    const change = changeRoster(roster({ a: null }), beginCursor(50), {
      configured: [endpoint("a"), endpoint("n")],
      lastSequence: 80,
      nowMs: 0,
      archiveAfterMs: 24 * hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.cursor.next, { n: 81 })
    assert.deepStrictEqual(change.archived, [])
  })

  it("gives a new endpoint not even an event that the others have yet to get", () => {
    const change = changeRoster(roster({ a: null }), beginCursor(50), {
      configured: [endpoint("a"), endpoint("n")],
      lastSequence: 51,
      nowMs: 0,
      archiveAfterMs: hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.cursor.next, { n: 52 })
  })

  it("holds nothing back on the very first start", () => {
    const change = changeRoster(emptyRoster, beginCursor(80), {
      configured: [endpoint("a")],
      lastSequence: 80,
      nowMs: 0,
      archiveAfterMs: 24 * hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.cursor.next, {})
  })

  it("parks a removed endpoint, and remembers since when", () => {
    const change = changeRoster(roster({ a: null, b: null }), beginCursor(50), {
      configured: [endpoint("a")],
      lastSequence: 80,
      nowMs: 7,
      archiveAfterMs: 24 * hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.cursor.next, { b: 51 })
    assert.strictEqual(change.roster.endpoints["b"]?.absentSinceMs, 7)
  })

  it("lets an endpoint that returns within the day go on where it was", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 } }
    const change = changeRoster(roster({ b: 7 }), cursor, {
      configured: [endpoint("b")],
      lastSequence: 90,
      nowMs: hourMs,
      archiveAfterMs: 24 * hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.cursor.next, { b: 51 })
    assert.isNull(change.roster.endpoints["b"]?.absentSinceMs)
  })

  it("archives an endpoint after a longer absence, and forgets it", () => {
    const cursor: FanOutCursor = { ...beginCursor(90), next: { b: 51 } }
    const change = changeRoster(roster({ a: null, b: 0 }), cursor, {
      configured: [endpoint("a")],
      lastSequence: 90,
      nowMs: 24 * hourMs,
      archiveAfterMs: 24 * hourMs,
      ...noneAtRunTime
    })
    assert.deepStrictEqual(change.archived, [endpoint("b")])
    assert.deepStrictEqual(change.cursor.next, {})
    assert.hasAllKeys(change.roster.endpoints, ["a"])
  })

  it("is identified by its set of endpoints, in any order", () => {
    assert.strictEqual(fingerprint([endpoint("a"), endpoint("b")]), fingerprint([endpoint("b"), endpoint("a")]))
    assert.notStrictEqual(fingerprint([endpoint("a")]), fingerprint([endpoint("a"), endpoint("b")]))
  })
})
