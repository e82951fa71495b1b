import { assert, describe, it } from "@effect/vitest"
import { deliveryLaneOf, endpointIdOf } from "#contracts"
import { beginCursor, type FanOutCursor } from "#webhooks"
import { areAligned, homeOf, rearranged, withoutLeft } from "../../../services/webhook-dispatcher/lanes.ts"

const ids = Array.from({ length: 64 }, (_, index) => endpointIdOf(`endpoint ${index}`))
const at = (lanes: number, more: Partial<FanOutCursor> = {}): FanOutCursor => ({ ...beginCursor(100), lanes, ...more })
const [moves = "", stays = ""] = [
  ids.find((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 2),
  ids.find((id) => deliveryLaneOf(id, 2) === 0 && deliveryLaneOf(id, 4) === 0)
]

describe("the lane of an endpoint", () => {
  it("is the first one of a fleet without lanes, whose cursor has no number", () => {
    for (const id of ids) {
      assert.strictEqual(homeOf({ count: 1, before: undefined, cursors: [beginCursor(0)] }, id), 0)
    }
  })

  it("is spread over all lanes", () => {
    for (const lanes of [2, 4, 8]) {
      assert.strictEqual(new Set(ids.map((id) => deliveryLaneOf(id, lanes))).size, lanes)
    }
  })

  it("stays the old one until the new one has taken the endpoint over", () => {
    const begun = { count: 4, before: 2, cursors: [at(4), at(2), at(2), at(2)] }
    const inSecond = ids.find((id) => deliveryLaneOf(id, 2) === 1 && deliveryLaneOf(id, 4) === 3) ?? ""
    assert.strictEqual(homeOf(begun, inSecond), 1)
    const left = { count: 4, before: 2, cursors: [at(4, { left: { [moves]: 101 } }), at(4), at(4), at(4)] }
    assert.strictEqual(homeOf(left, moves), 0)
    assert.strictEqual(homeOf({ ...left, cursors: [at(4), at(4), at(4), at(4)] }, moves), 2)
  })
})

describe("lanes", () => {
  it("agree when all go by the number of the first, and none has yet to begin", () => {
    assert.isTrue(areAligned({ count: 2, before: undefined, cursors: [at(2), at(2)] }))
    assert.isFalse(areAligned({ count: 4, before: 2, cursors: [at(4), at(2)] }))
    assert.isFalse(areAligned({ count: 2, before: undefined, cursors: [at(2), undefined] }))
  })

  it("name the first event that each endpoint needs elsewhere: where it is parked, or the next one", () => {
    const parked = ids.find((id) => id !== moves && deliveryLaneOf(id, 4) === 2) ?? ""
    const after = rearranged(at(2, { next: { [parked]: 7 } }), { lane: 0, count: 4, known: [moves, parked, stays] })
    assert.deepStrictEqual(after.left, { [moves]: 101, [parked]: 7 })
    assert.deepStrictEqual(after.next, {})
    assert.strictEqual(after.lanes, 4)
  })

  it("keep the place of an endpoint that has yet to be taken over when the number changes again", () => {
    const once = rearranged(at(2), { lane: 0, count: 4, known: [moves] })
    const twice = rearranged({ ...once, position: 500 }, { lane: 0, count: 8, known: [moves] })
    assert.deepStrictEqual(twice.left, { [moves]: 101 })
  })

  it("forget an endpoint once another one has it, and the list with the last", () => {
    const cursor = at(4, { left: { a: 1, b: 2 } })
    assert.deepStrictEqual(withoutLeft(cursor, ["a"]).left, { b: 2 })
    assert.notProperty(withoutLeft(cursor, ["a", "b"]), "left")
  })
})
