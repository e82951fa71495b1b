import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { subjects } from "#base"
import { Metrics } from "#runtime"
import { Backlogs } from "../../../services/webhook-dispatcher/backlogs.ts"
import { DeliveryMetrics } from "../../../services/webhook-dispatcher/metrics.ts"
import { Endpoints } from "../../../services/webhook-dispatcher/endpoints/Endpoints.ts"
import { DeliveryLanes } from "../../../services/webhook-dispatcher/lanes.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { recorder } from "../../support/recorder.ts"

const endpointOf = (id: string) => ({ id, name: `name of ${id}`, backlogMax: 4 })

/** One lane, one endpoint that is configured and one made at run time. */
const world = () => {
  const stream = memoryStream(recorder())
  const all = [endpointOf("a"), endpointOf("b")]
  const services = Layer.mergeAll(
    stream.layer,
    Layer.succeed(Endpoints, {
      configured: all.slice(0, 1),
      all: () => all,
      byId: (id: string) => all.find((one) => one.id === id)
    } as never),
    Layer.succeed(DeliveryLanes, { all: [0] } as never)
  )
  const put = (id: string, count: number) => {
    for (let index = 0; index < count; index += 1) stream.store(subjects.deliveries(0).due(3, id), new Uint8Array(0))
  }
  const finish = (count: number) => void stream.messages.splice(0, count)
  return {
    ...stream,
    put,
    finish,
    layer: Backlogs.layer.pipe(
      Layer.provide(services),
      Layer.provide(DeliveryMetrics.layer),
      Layer.provideMerge(Metrics.layerTest)
    )
  }
}

const nextPoll = TestClock.adjust("1 second")
const gauge = (name: string) =>
  Effect.map(
    Effect.flatMap(Metrics, ({ text }) => text),
    (text) => Number(RegExp(`^${name}.* (\\S+)$`, "mu").exec(text)?.[1])
  )

describe("the backlog of an endpoint", () => {
  it.effect(
    "is overfull from its most on until half of it is gone, and counts what was added since the last look",
    () => {
      const { layer, put, finish } = world()
      return Effect.gen(function* () {
        const { of, isOverfull, added } = yield* Backlogs
        put("a", 3)
        yield* nextPoll
        assert.deepStrictEqual([of("a"), isOverfull("a"), of("b"), of("gone")], [3, false, 0, 0])
        added("a", 1)
        put("a", 1)
        assert.deepStrictEqual([of("a"), isOverfull("a")], [4, true])
        const seen: Array<boolean> = []
        for (const count of [0, 1, 1, 1]) {
          finish(count)
          yield* nextPoll
          seen.push(isOverfull("a"))
        }
        assert.deepStrictEqual(seen, [true, true, false, false])
        assert.isFalse(isOverfull("b"))
        added("gone", 9)
        assert.isFalse(isOverfull("gone"))
      }).pipe(Effect.provide(layer))
    }
  )

  it.effect("stands when it has not shrunk over the three seconds since it was first seen", () => {
    const { layer, put, finish } = world()
    put("a", 2)
    return Effect.gen(function* () {
      const { stagnant } = yield* Backlogs
      const counts: Array<number> = []
      for (let poll = 0; poll < 5; poll += 1) {
        yield* nextPoll
        counts.push(stagnant().length)
      }
      assert.deepStrictEqual(counts, [0, 0, 1, 1, 1])
      assert.deepStrictEqual(stagnant(), [
        { lane: 0, endpointId: "a", subject: subjects.deliveries(0).due(3, "a"), count: 2 }
      ])
      finish(1)
      yield* nextPoll
      assert.deepStrictEqual(stagnant(), [])
      // One that grows does not shrink.
      put("a", 3)
      yield* TestClock.adjust("3 seconds")
      assert.lengthOf(stagnant(), 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("is told with the age of its oldest delivery, beside what waits for its next attempt", () => {
    const { layer, put, finish, store } = world()
    put("b", 2)
    // Cursor and rosters are neither due nor waiting; what waits is the rest.
    for (const name of ["cursor", "roster", "roster-of-b"]) store(`deliveries.${name}`, new Uint8Array(0))
    store(subjects.deliveries(0).wait("b", "6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a01"), new Uint8Array(0))
    return Effect.gen(function* () {
      yield* TestClock.adjust("4 seconds")
      assert.strictEqual(yield* gauge('webhook_backlog\\{.*endpoint="name of b"'), 2)
      // It was stored at the first millisecond.
      assert.strictEqual(yield* gauge('webhook_oldest_due_age_seconds\\{.*endpoint="name of b"'), 3.999)
      assert.strictEqual(yield* gauge('webhook_oldest_due_age_seconds\\{.*endpoint="name of a"'), 0)
      assert.strictEqual(yield* gauge("webhook_retries_waiting"), 1)
      finish(2)
      yield* nextPoll
      assert.strictEqual(yield* gauge('webhook_oldest_due_age_seconds\\{.*endpoint="name of b"'), 0)
    }).pipe(Effect.provide(layer))
  })
})
