import { assert, describe, it } from "@effect/vitest"
import { beginCursor } from "#webhooks"
import { firstNeeded, hasNextEvent, park } from "../../../libs/webhooks/fan-out-cursor.ts"

/** Between two events: 5 was given to all, and 6 to the endpoints up to `m`. */
const between = { ...beginCursor(5), through: "m" }

describe("the first event that an endpoint still needs", () => {
  it.each([
    ["the next one, between two events", beginCursor(5), "a", false, 6],
    ["the one after next, for an endpoint that has the next one", between, "a", true, 7],
    ["the one after next, for the last that has it", between, "m", true, 7],
    ["the next one, for an endpoint that has yet to get it", between, "n", false, 6]
  ] as const)("is %s", (_, cursor, id, has, needed) => {
    assert.strictEqual(hasNextEvent(cursor, id), has)
    assert.strictEqual(firstNeeded(cursor, id), needed)
    assert.deepStrictEqual(park(cursor, id).next, { [id]: needed })
  })

  it("stays where an endpoint was taken out of step", () => {
    const parked = park(between, "n")
    assert.strictEqual(park({ ...parked, position: 9 }, "n").next["n"], 6)
  })
})
