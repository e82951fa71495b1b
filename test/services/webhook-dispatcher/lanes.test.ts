import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { Kv, Publisher, type SourceMessage, StreamReader } from "#bus"
import { deliveryLaneOf, endpointIdOf } from "#webhooks/contract"
import { deliveryStream } from "#base"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { beginCursor, type FanOutCursor, fanOutRecordCodec } from "#webhooks"
import { areAligned, homeOf, rearranged, withoutLeft } from "../../../services/webhook-dispatcher/lane-cursors.ts"
import { DeliveryLanes } from "../../../services/webhook-dispatcher/lanes.ts"

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

const inSecond = ids.find((id) => deliveryLaneOf(id, 2) === 1 && deliveryLaneOf(id, 4) === 3) ?? ""

/** What is stored of four lanes, and what becomes of it after so many reads. */
interface Stored {
  cursors: ReadonlyArray<FanOutCursor>
  change: { readonly afterReads: number; readonly to: ReadonlyArray<FanOutCursor> } | undefined
}

const readerOf = (stored: Stored) => {
  let reads = 0
  return {
    reads: () => reads,
    layer: Layer.mock(StreamReader, {
      last: (stream) =>
        Effect.sync(() => {
          if (stored.change !== undefined && reads >= stored.change.afterReads) stored.cursors = stored.change.to
          reads += 1
          const lane = [0, 1, 2, 3].find((each) => deliveryStream(each) === stream) ?? 0
          const { data } = fanOutRecordCodec.encode({ cursor: stored.cursors[lane]!, pending: [] })
          return Option.some<SourceMessage>({ subject: "", sequence: 1, storedAtMs: 0, data, header: () => undefined })
        })
    })
  }
}

const lanesOn = (reader: ReturnType<typeof readerOf>) =>
  DeliveryLanes.layer.pipe(
    Layer.provide(reader.layer),
    Layer.provide(Layer.mock(Publisher, {})),
    Layer.provide(Layer.mock(Kv, { open: () => Effect.succeed({} as never) })),
    Layer.provide(Metrics.layerTest),
    Layer.provide(Configuration.layerOf({ WebhookDelivery: { Lanes: 4 } }))
  )

const settled = (lanes: number) => [at(lanes), at(lanes), at(lanes), at(lanes)]
const leavesFirst = [at(4, { lanesBefore: 2, left: { [moves]: 101 } }), at(2), at(2), at(2)]
const leavesSecond = [at(4, { lanesBefore: 2 }), at(4, { left: { [inSecond]: 101 } }), at(4), at(4)]

describe("a delivery", () => {
  it.effect("is passed on where its endpoint has moved", () => {
    const reader = readerOf({ cursors: settled(4), change: undefined })
    return Effect.gen(function* () {
      const { elsewhere } = yield* DeliveryLanes
      assert.strictEqual(yield* elsewhere(moves, 0), 2)
      assert.isUndefined(yield* elsewhere(moves, 2))
      assert.isUndefined(yield* elsewhere(stays, 0))
    }).pipe(Effect.provide(lanesOn(reader)))
  })

  it.effect("is made in the lane that its endpoint moved to by a process that has yet to hear of the move", () => {
    const stored: Stored = { cursors: settled(4), change: undefined }
    return Effect.gen(function* () {
      const { elsewhere, state } = yield* DeliveryLanes
      stored.cursors = settled(2)
      assert.isUndefined(yield* elsewhere(moves, 0))
      assert.strictEqual(state().count, 4)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(state().count, 2)
      assert.isUndefined(yield* elsewhere(moves, 0))
      assert.strictEqual(yield* elsewhere(moves, 2), 0)
    }).pipe(Effect.provide(lanesOn(readerOf(stored))))
  })

  it.effect.each([0, 1, 2, 3])(
    "is made where it is found when the number changes after %i of four cursors were read",
    (read) => {
      const stored: Stored = { cursors: settled(2), change: undefined }
      const reader = readerOf(stored)
      return Effect.gen(function* () {
        const { elsewhere } = yield* DeliveryLanes
        stored.change = { afterReads: reader.reads() + read, to: leavesSecond }
        assert.isUndefined(yield* elsewhere(inSecond, 3))
      }).pipe(Effect.provide(lanesOn(reader)))
    }
  )

  it.effect.each([0, 1, 2, 3, 4])(
    "stays in the lane that its endpoint has yet to leave when %i cursors were read before",
    (read) => {
      const stored: Stored = { cursors: settled(2), change: undefined }
      const reader = readerOf(stored)
      return Effect.gen(function* () {
        const { elsewhere, read: readAll } = yield* DeliveryLanes
        stored.change = { afterReads: reader.reads() + read, to: leavesFirst }
        assert.strictEqual(homeOf(yield* readAll, moves), 0)
        assert.isUndefined(yield* elsewhere(moves, 0))
      }).pipe(Effect.provide(lanesOn(reader)))
    }
  )
})
