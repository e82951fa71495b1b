import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer, Logger, Option } from "effect"
import { Consumers, Nats, Publisher, topologyOf } from "#bus"
import { deliveryLaneOf, deliveryPartitionOf, endpointIdOf } from "#webhooks/contract"
import { deliveryStream, eventSchemaVersion, subjects } from "#base"
import { lineLogger } from "#runtime"
import { deliveryHeaders, readFanOutCursor } from "#webhooks"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { whileDispatching } from "../../support/dispatcher.ts"
import { arrived, explained, publish, requestsTo, setUp, stream } from "../../support/webhooks.ts"

const utf8 = new TextEncoder()

// Its lane is the second of two.
const name = ["a", "b", "c", "d", "e", "f"].find((each) => deliveryLaneOf(endpointIdOf(each), 2) === 1)!
const id = endpointIdOf(name)
const path = `/${name}`

const storeDelivery = Effect.fnUntraced(function* (lane: number) {
  const nowMs = yield* Clock.currentTimeMillis
  const delivery = {
    deliveryId: crypto.randomUUID(),
    endpointId: id,
    event: "work_item.done",
    schemaVersion: eventSchemaVersion,
    sequence: 1,
    attempt: 1,
    storedAt: nowMs,
    dueAt: nowMs
  }
  const subject = subjects.deliveries(lane).due(deliveryPartitionOf(id), id)
  return yield* (yield* Publisher).publishRaw(subject, utf8.encode("{}"), { headers: deliveryHeaders(delivery) })
})

/** As a broker leaves them that is killed after it stored the acks, and before it stored the removal. */
const leaveAcked = Effect.fnUntraced(function* (lane: number, count: number) {
  const nats = yield* Nats
  const consumers = yield* Consumers
  const [of, durable] = [deliveryStream(lane), `endpoint-${id}`]
  const filterSubjects = [subjects.deliveries(lane).dueOf(id)]
  yield* consumers.ensure({ stream: of, durable, filterSubjects, unackedMax: 1, ackWaitMs: 5_000 })
  for (let nth = 1; nth < count; nth += 1) yield* storeDelivery(lane)
  const { sequence } = yield* storeDelivery(lane)
  yield* nats.use("move the ack floor", ({ connection }) =>
    connection.request(`$JS.API.CONSUMER.RESET.${of}.${durable}`, JSON.stringify({ seq: sequence + 1 }))
  )
  const { pending, unacked, ackFloor } = yield* consumers.backlog(of, durable)
  assert.deepStrictEqual({ pending, unacked, ackFloor }, { pending: 0, unacked: 0, ackFloor: sequence })
  assert.strictEqual((yield* dueIn(lane)).length, count)
})

const dueIn = (lane: number) =>
  Effect.map(stream(deliveryStream(lane)), (all) => all.filter(({ subject }) => subject.includes(".due.")))

const isEmpty = (lane: number) => Effect.map(dueIn(lane), (due) => due.length === 0)

const isSettledAt = (lanes: number) =>
  Effect.map(readFanOutCursor(0), (cursor) =>
    Option.exists(cursor, (first) => (first.lanes ?? 1) === lanes && first.lanesBefore === undefined)
  )

describe("deliveries that were acked and that the broker stored again", () => {
  it.live("are removed with a warning, and what waits is delivered", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const lines: Array<string> = []
      yield* leaveAcked(0, 3).pipe(Effect.provide(busOn(server)))
      const test = Effect.gen(function* () {
        yield* publish("work_item.done")
        yield* arrived(receiver, path, 1)
        yield* eventually(isEmpty(0))
        assert.lengthOf(requestsTo(receiver, path), 1)
        yield* eventually(() => lines.some((line) => line.includes("were removed")))
        const told = lines.filter((line) => line.includes("were removed")).map((line) => JSON.parse(line))
        assert.lengthOf(told, 1)
        assert.include(told[0], { level: "WARN", endpoint: name, stream: "DELIVERIES", removed: 3 })
      })
      yield* whileDispatching(server, { endpoints: [{ Name: name, Url: receiver.url(path) }] }, test).pipe(
        Effect.provide(Logger.layer([lineLogger("json", (line) => void lines.push(line))]))
      )
    })
  )

  it.live("are removed alone where others wait behind them", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      receiver.answer(path, () => "hang")
      const waiting = yield* leaveAcked(0, 2).pipe(
        Effect.andThen(Effect.all([storeDelivery(0), storeDelivery(0)])),
        Effect.map((stored) => stored.map(({ sequence }) => sequence)),
        Effect.provide(busOn(server))
      )
      const endpoint = { Name: name, Url: receiver.url(path), Concurrency: 1, TimeoutSeconds: 60 }
      const test = Effect.gen(function* () {
        yield* eventually(dueIn(0), { is: (due) => due.length === waiting.length })
        assert.deepStrictEqual(
          (yield* dueIn(0)).map(({ sequence }) => sequence),
          waiting
        )
        assert.isAtMost(requestsTo(receiver, path).length, 1)
      })
      yield* whileDispatching(server, { endpoints: [endpoint] }, test)
    })
  )

  it.live("hold up no change of the number of lanes, and what no consumer has is delivered after it", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      const endpoints = [{ Name: name, Url: receiver.url(path) }]
      const withLanes = <A, E, R>(lanes: number, test: Effect.Effect<A, E, R>) =>
        whileDispatching(server, { endpoints, delivery: { Lanes: lanes } }, explained(receiver, 2, test))
      const prepared = busOn(server, topologyOf(2))
      yield* Effect.provide(dueIn(1), Layer.fresh(prepared))
      yield* withLanes(
        2,
        Effect.gen(function* () {
          yield* eventually(isSettledAt(2))
          yield* publish("work_item.done")
          yield* arrived(receiver, path, 1)
          yield* eventually(isEmpty(1))
        })
      )
      yield* Effect.provide(leaveAcked(1, 2), Layer.fresh(prepared))
      yield* withLanes(
        1,
        Effect.gen(function* () {
          yield* publish("work_item.done")
          yield* arrived(receiver, path, 2)
          yield* eventually(isSettledAt(1))
          const consumers = yield* Consumers
          yield* eventually(consumers.names(deliveryStream(1)), { is: (names) => names.length === 0 })
          yield* storeDelivery(1)
          yield* arrived(receiver, path, 3)
          yield* eventually(isEmpty(1))
        })
      )
    })
  )
})
