import { assert, describe, it } from "@effect/vitest"
import { fairShare } from "../../../../libs/bus/connection/event-loop.ts"

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe("consumers that share the event loop", () => {
  it("start a lone message at once", () => {
    const started: Array<string> = []
    fairShare()
      .lane<string>((item) => started.push(item))
      .take("lone")
    assert.deepStrictEqual(started, ["lone"])
  })

  it("start a lone message after a burst within a turn, and each lane in its own order", async () => {
    const share = fairShare()
    const started: Array<string> = []
    const burst = share.lane<number>((item) => started.push(`burst ${item}`))
    const lone = share.lane<string>((item) => started.push(item))
    for (let item = 0; item < 1_000; item++) burst.take(item)
    lone.take("lone")
    assert.isBelow(started.length, 40)
    await nextTurn()
    assert.include(started, "lone")
    assert.isBelow(started.indexOf("lone"), 40)
    let turns = 1
    for (; started.length < 1_001; turns += 1) await nextTurn()
    // Each turn starts as many as the first one did.
    assert.isBelow(turns, 40)
    const ofBurst = started.filter((item) => item !== "lone")
    assert.deepStrictEqual(
      ofBurst,
      Array.from({ length: 1_000 }, (_, item) => `burst ${item}`)
    )
  })

  it("hand back unstarted messages, and start none of them", async () => {
    const share = fairShare()
    const started: Array<number> = []
    const lane = share.lane<number>((item) => started.push(item))
    for (let item = 0; item < 100; item++) lane.take(item)
    const rest = lane.empty()
    await nextTurn()
    await nextTurn()
    assert.strictEqual(started.length + rest.length, 100)
    assert.deepStrictEqual(
      [...started, ...rest],
      Array.from({ length: 100 }, (_, item) => item)
    )
  })
})
