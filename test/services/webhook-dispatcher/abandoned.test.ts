import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { BusRefused, Publisher, type SourceMessage, StreamReader } from "#bus"
import type { Abandonment, Delivery } from "#webhooks/contract"
import { subjects } from "#base"
import { type DueDelivery, dueDeliveryCodec } from "#webhooks"
import { AbandonedDeliveries, removed } from "../../../services/webhook-dispatcher/abandoned.ts"
import { DeliveryLanes } from "../../../services/webhook-dispatcher/lanes.ts"
import { memoryStream } from "../../support/memory-stream.ts"
import { failingAtEach, type Recorder, recorder, told } from "../../support/recorder.ts"

const id = "0123456789abc"
const deliveryOf = (number: number, endpointId = id): Delivery => ({
  deliveryId: `6f1c2f0e-5d0a-4c1b-9a55-0c8f6b9f2a0${number}`,
  endpointId,
  event: "queue.paused",
  schemaVersion: "1.2.0",
  sequence: number,
  entity: "queue/1",
  attempt: 3,
  storedAt: 0,
  dueAt: 0
})
const due = (number: number): DueDelivery => ({
  delivery: deliveryOf(number),
  body: new TextEncoder().encode(`{"number":${number}}`)
})
const why: Abandonment = {
  endpoint: "demo",
  reason: "no attempt is left",
  attempts: 3,
  lastStatus: 500,
  lastError: null,
  abandonedAt: "2026-01-01T00:00:00.000Z"
}
const abandonedSubject = subjects.abandoned(id)

const readable = ({ header, data }: SourceMessage) => ({
  delivery: JSON.parse(header("Starling-Delivery") ?? "null") as Delivery,
  abandonment: JSON.parse(header("Starling-Abandonment") ?? "null") as Abandonment,
  body: new TextDecoder().decode(data)
})

/** Two lanes. `bytesMax`: of a body that the broker stores. */
const world = (record: Recorder, bytesMax = 1_000) => {
  const stream = memoryStream(record)
  const publisher = Layer.effect(
    Publisher,
    Effect.map(Publisher, (well) =>
      Publisher.of({
        ...well,
        publishRaw: (subject, data, options) =>
          data.length > bytesMax
            ? Effect.fail(new BusRefused({ operation: "publish", detail: "too large", code: 10_054 }))
            : well.publishRaw(subject, data, options)
      })
    )
  )
  const onReader = AbandonedDeliveries.layer.pipe(
    Layer.provide(publisher.pipe(Layer.provide(stream.layer))),
    Layer.provide(Layer.succeed(DeliveryLanes, { all: [0, 1] } as never))
  )
  const layer = Layer.provide(onReader, stream.layer)
  const abandoned = () => stream.messages.filter(({ subject }) => subject === abandonedSubject).map(readable)
  return { ...stream, layer, onReader, stream: stream.layer, abandoned }
}

const putInLane = ({ store }: Pick<ReturnType<typeof world>, "store">, lane: number, number: number, isDue = true) => {
  const ofLane = subjects.deliveries(lane)
  const { data, headers } = dueDeliveryCodec.encode(due(number))
  const subject = isDue ? ofLane.due(3, id) : ofLane.wait(id, deliveryOf(number).deliveryId)
  return store(subject, data, { headers }).sequence
}

describe("an abandoned delivery", () => {
  it.effect("is stored once with its body, its endpoint and why", () => {
    const { layer, abandoned } = world(recorder())
    return Effect.gen(function* () {
      const { delivery } = yield* AbandonedDeliveries
      yield* delivery(due(1), why)
      yield* delivery(due(1), why)
      assert.deepStrictEqual(abandoned(), [{ delivery: deliveryOf(1), abandonment: why, body: '{"number":1}' }])
    }).pipe(Effect.provide(layer))
  })

  it.effect("that is too large for the broker is stored without its body and its entity, and says so", () => {
    const { layer, abandoned } = world(recorder(), 5)
    return Effect.gen(function* () {
      const { delivery } = yield* AbandonedDeliveries
      yield* delivery(due(1), why)
      const { entity: _entity, ...bare } = deliveryOf(1)
      assert.deepStrictEqual(abandoned(), [
        {
          delivery: bare,
          abandonment: {
            ...why,
            reason: "its body is too large to store; no attempt is left",
            isBodyLeftOut: true
          },
          body: ""
        }
      ])
    }).pipe(Effect.provide(layer))
  })
})

describe("the deliveries of an endpoint that is gone", () => {
  const gone = { id, name: "demo", reason: removed }

  it.effect("are abandoned, waiting and due, in each lane below its bound, and only those are removed", () => {
    const there = world(recorder())
    putInLane(there, 0, 1)
    putInLane(there, 0, 2, false)
    putInLane(there, 1, 3)
    const above = putInLane(there, 0, 4)
    there.store(subjects.deliveries(0).due(3, "another000000"), new Uint8Array(0))
    there.store(subjects.deliveries(0).due(3, id), new Uint8Array(0))
    const left = () => there.messages.filter(({ subject }) => subject !== abandonedSubject).length
    return Effect.gen(function* () {
      const { endpoint } = yield* AbandonedDeliveries
      assert.strictEqual(yield* endpoint({ ...gone, below: [above, above] }), 5)
      const found = there.abandoned()
      assert.deepStrictEqual(found.map(({ delivery }) => delivery.sequence).toSorted(), [1, 2, 3])
      // Its attempts are those that were made; the next one was still to come.
      for (const { abandonment } of found)
        assert.deepInclude(abandonment, { endpoint: "demo", reason: removed, attempts: 2 })
      assert.strictEqual(left(), 3)
      const end = 1_000
      assert.strictEqual(yield* endpoint({ ...gone, below: [end, end] }), 2)
      assert.strictEqual(left(), 1, "another endpoint's")
      assert.lengthOf(there.abandoned(), 4, "one that cannot be read is removed")
      assert.strictEqual(yield* endpoint({ ...gone, below: [end, end] }), 0)
    }).pipe(Effect.provide(there.layer))
  })

  it.effect("are found also where a retry comes due while they are looked for", () => {
    let looks = 0
    const there = world(recorder())
    putInLane(there, 0, 1, false)
    const comesDue = () => {
      const ofLane = subjects.deliveries(0)
      const at = there.messages.findIndex(({ subject }) => subject === ofLane.wait(id, deliveryOf(1).deliveryId))
      if (at === -1) return
      there.messages.splice(at, 1)
      putInLane(there, 0, 1)
    }
    const reader = (well: StreamReader["Service"]) =>
      StreamReader.of({
        ...well,
        countBySubject: (...asked) => {
          looks += 1
          if (looks === 2) comesDue()
          return well.countBySubject(...asked)
        }
      })
    return Effect.gen(function* () {
      const well = yield* StreamReader
      const { endpoint } = yield* Effect.provide(
        AbandonedDeliveries,
        Layer.provide(there.onReader, Layer.succeed(StreamReader, reader(well)))
      )
      assert.strictEqual(yield* endpoint({ ...gone, below: [1_000, 1_000] }), 1)
      assert.lengthOf(there.abandoned(), 1)
    }).pipe(Effect.provide(there.stream))
  })

  it.effect("of a lane without a bound are left", () => {
    const there = world(recorder())
    putInLane(there, 1, 1)
    return Effect.gen(function* () {
      const { endpoint } = yield* AbandonedDeliveries
      assert.strictEqual(yield* endpoint({ ...gone, below: [1_000] }), 0)
      assert.lengthOf(there.abandoned(), 0)
    }).pipe(Effect.provide(there.layer))
  })

  it.effect("are removed only after all of them are stored as abandoned, whichever write fails", () =>
    Effect.gen(function* () {
      const runs = yield* failingAtEach((record) => {
        const there = world(record)
        putInLane(there, 0, 1)
        putInLane(there, 0, 2)
        return Effect.gen(function* () {
          const { endpoint } = yield* AbandonedDeliveries
          yield* Effect.exit(endpoint({ ...gone, below: [1_000, 1_000] }))
          return new Set(
            there.messages.map(({ header }) => (JSON.parse(header("Starling-Delivery") ?? "{}") as Delivery).deliveryId)
          )
        }).pipe(Effect.provide(there.layer))
      })
      for (const run of runs) {
        if (Exit.isFailure(run.exit)) return assert.fail(told(run))
        assert.strictEqual(run.exit.value.size, 2, `none is lost; ${told(run)}`)
      }
      assert.strictEqual(runs.length, 7)
    })
  )
})
