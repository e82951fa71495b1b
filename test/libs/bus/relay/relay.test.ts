import { assert, describe, it } from "@effect/vitest"
import {
  type Observation as Seen,
  observe,
  patienceOf,
  type Standby,
  takesOver
} from "../../../../libs/bus/relay/relay.ts"

const patience = patienceOf(0)
type Observation = Omit<Seen, "isOurs"> & Partial<Seen>
const lookMs = 250

/** When, counted from the first look, a relay takes up that sees the cursor so at each look; undefined if never. */
const takesUpAfter = (looks: ReadonlyArray<Observation>, { behindMs, quietMs } = patience) => {
  let state: Standby | undefined
  for (const [index, sighting] of looks.entries()) {
    state = observe(state, { isOurs: true, ...sighting }, index * lookMs)
    if (takesOver(state, { behindMs, quietMs }, index * lookMs)) return index * lookMs
  }
  return undefined
}
const looks = (count: number, at: (index: number) => Observation) =>
  Array.from({ length: count }, (_, index) => at(index))

describe("a relay on standby", () => {
  it("leaves the work to a twin that moves the cursor, whatever the backlog", () => {
    const moving = looks(1_000, (index) => ({ sequence: index, isBehind: true }))
    assert.isUndefined(takesUpAfter(moving))
    // Also one that is slow: a step takes it two looks.
    const slow = looks(1_000, (index) => ({ sequence: Math.floor(index / 2), isBehind: true }))
    assert.isUndefined(takesUpAfter(slow))
  })

  it("takes over after half a second when messages wait and the cursor stands still", () => {
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: true }))), 500)
  })

  it("counts the half second from the first waiting message, not from the last step", () => {
    const late = looks(100, (index) => ({ sequence: 7, isBehind: index >= 6 }))
    assert.strictEqual(takesUpAfter(late), 6 * lookMs + 500)
  })

  it("starts the count again when the backlog is done", () => {
    const inTime = looks(8, (index) => ({ sequence: index < 4 ? 7 : 8, isBehind: index % 4 === 3 }))
    assert.isUndefined(takesUpAfter(inTime))
  })

  it("takes over after three seconds of silence, because an idle twin looks like a dead one", () => {
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: false }))), 3_000)
  })

  it("leaves an idle twin of another configuration alone, but succeeds it when messages wait", () => {
    assert.isUndefined(takesUpAfter(looks(1_000, () => ({ sequence: 7, isBehind: false, isOurs: false }))))
    assert.strictEqual(takesUpAfter(looks(100, () => ({ sequence: 7, isBehind: true, isOurs: false }))), 500)
    const changed = looks(100, (index) => ({ sequence: index < 4 ? 7 : 8, isBehind: false, isOurs: index >= 4 }))
    assert.strictEqual(takesUpAfter(changed), 4 * lookMs + 3_000)
  })

  it("is not misled by its own stall: its view on waking comes first", () => {
    const before = observe(undefined, { sequence: 7, isBehind: true, isOurs: true }, 0)
    assert.isFalse(takesOver(observe(before, { sequence: 9, isBehind: false, isOurs: true }, 60_000), patience, 60_000))
  })

  it("has a random patience between one and two times the minimum", () => {
    const waiting = looks(100, () => ({ sequence: 7, isBehind: true }))
    const quiet = looks(100, () => ({ sequence: 7, isBehind: false }))
    for (const share of [0, 0.25, 0.5, 0.999]) {
      const its = patienceOf(share)
      assert.isAtLeast(takesUpAfter(waiting, its) ?? 0, 500)
      assert.isAtMost(takesUpAfter(waiting, its) ?? Infinity, 1_000)
      assert.isAtMost(takesUpAfter(quiet, its) ?? Infinity, 6_000)
    }
    assert.isBelow(patienceOf(0).behindMs, patienceOf(0.1).behindMs)
  })
})
