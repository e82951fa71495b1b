import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { entityProjection } from "#actors"
import { isoTime } from "#base"
import { QueueCommand, queueId } from "#pipeline/contract"
import { queue, queueProjection } from "#pipeline"
import { diceOf } from "../../support/random-ssml.ts"
import { entityAtWork } from "./entity-at-work.ts"

const pause = { _tag: "Pause", reason: "the forge is down", pausedBy: "ann" } as const
const resume = { _tag: "Resume", resumedBy: "ann" } as const
const theQueue = () => entityAtWork(queue, QueueCommand, queueId)

describe("the pickup queue", () => {
  it("is paused by an operator, with a reason", () => {
    const line = theQueue()
    assert.deepStrictEqual(line.does(pause), ["queue.paused"])
    const told = line.last("queue.paused")
    assert.deepStrictEqual(told.details, {
      pausedAt: isoTime(line.nowMs()),
      reason: "the forge is down",
      pausedBy: "ann"
    })
    assert.deepStrictEqual([told.workItem, told.project], [null, null])
  })

  it("is resumed", () => {
    const line = theQueue()
    line.does(pause)
    assert.deepStrictEqual(line.does(resume), ["queue.resumed"])
    assert.deepStrictEqual(line.last("queue.resumed").details, { resumedAt: isoTime(line.nowMs()) })
    assert.isNull(line.state().pause)
  })

  it("is not paused or resumed twice", () => {
    const line = theQueue()
    assert.deepStrictEqual(line.facts(resume), [])
    line.does(pause)
    assert.deepStrictEqual(line.facts({ ...pause, reason: "another" }), [])
    assert.strictEqual(line.state().pause?.reason, "the forge is down")
  })

  it("is shown as running or paused", () => {
    const show = (state: unknown) => Result.getOrThrow(entityProjection(queueProjection).show(state, queueId))
    const line = theQueue()
    assert.isUndefined(show(null))
    line.does(pause)
    assert.strictEqual(show(line.state())?.state, "Paused")
    line.does(resume)
    assert.strictEqual(show(line.state())?.state, "Running")
  })

  it.prop(
    "emits pause and resume in turns",
    [Schema.Int],
    ([seed]) => {
      const { of } = diceOf(seed)
      const line = theQueue()
      for (let step = 0; step < 40; step++) line.tries(of<QueueCommand>([pause, resume]))
      for (const [index, { event }] of line.events.entries()) {
        assert.strictEqual(event, index % 2 === 0 ? "queue.paused" : "queue.resumed")
      }
      assert.deepStrictEqual(line.replayed(), line.state())
    },
    { arbitrary: { runs: 10 } }
  )
})
