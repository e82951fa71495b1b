import { assert, describe, it } from "@effect/vitest"
import { orderUnder } from "../../load-tests/webhooks/order.ts"

const events = 3_000

describe("two ordered endpoints in two lanes, with retries and deliveries that are given up", () => {
  it("get every event in the order of its key when dispatchers and the broker are killed or stand still, and lanes change", async () => {
    const tallies = await orderUnder({
      events,
      rate: 100,
      faults: ["dispatcher", "other", "frozen", "broker", "redrive", "lanes", "both"]
    })
    const [one, two] = tallies
    for (const tally of [one, two]) {
      assert.deepStrictEqual(tally?.examples, [])
      assert.strictEqual(tally?.different, events)
      assert.isAbove(tally?.gaps ?? 0, 0)
    }
    // What has no order is overtaken: the receiver sees it where it happens.
    assert.isAbove(tallies.at(-1)?.inversions ?? 0, 0)
    assert.strictEqual(tallies.at(-1)?.different, events)
  })
})
