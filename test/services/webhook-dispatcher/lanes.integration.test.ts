import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { StreamReader, topologyOf } from "#bus"
import { deliveryLaneOf, deliveryStream, endpointIdOf } from "#contracts"
import { readFanOutCursor } from "#webhooks"
import { busOn, eventually } from "../../../dev/fixtures/bus.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import type { TestReceiver } from "../../support/receiver.ts"
import { startRoleProcess } from "../../support/role-process.ts"
import { requestsTo, sequencesTo, setUp, steadily, stream } from "../../support/webhooks.ts"

const names = Array.from({ length: 8 }, (_, index) => `lane-test-${index}`)
const path = (name: string) => `/${name}`

// One at a time: then the broker's order is the receiver's, whichever process sends.
const endpoints = (receiver: TestReceiver) =>
  names.map((Name) => ({ Name, Url: receiver.url(path(Name)), Concurrency: 1, InitialBackoffSeconds: 0.3 }))

const dispatcher = (server: TestNatsServer, receiver: TestReceiver, lanes: number) =>
  startRoleProcess(server, "webhook-dispatcher", {
    Webhooks: endpoints(receiver),
    WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], Lanes: lanes }
  })

const isSettledAt = (lanes: number) =>
  Effect.map(readFanOutCursor(0), (cursor) =>
    Option.exists(cursor, (first) => first.lanes === lanes && first.lanesBefore === undefined)
  )

/** Every event of the range came to every endpoint. */
const isComplete = (receiver: TestReceiver, from: number, to: number) =>
  names.every((name) => {
    const got = new Set(sequencesTo(receiver, path(name)))
    for (let sequence = from; sequence <= to; sequence += 1) if (!got.has(sequence)) return false
    return true
  })

const repeats = (values: ReadonlyArray<unknown>) => values.length - new Set(values).size

/** Sequences in the order in which they first came. */
const firsts = (receiver: TestReceiver, name: string) => [...new Set(sequencesTo(receiver, path(name)))]

const isAscending = (values: ReadonlyArray<number>) => values.every((value, index) => value > (values[index - 1] ?? 0))

const streamsOf = (lanes: number) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: lanes }, (_, lane) => lane),
      (lane) => Effect.map(StreamReader, (reader) => reader.bounds(deliveryStream(lane)))
    ),
    (bounds) => Effect.all(bounds)
  ).pipe(Effect.flatten)

const leftIn = (lanes: number) =>
  Effect.map(
    Effect.forEach(
      Array.from({ length: lanes }, (_, lane) => lane),
      (lane) => stream(deliveryStream(lane))
    ),
    (all) => all.flat().filter(({ subject }) => subject.includes(".due.") || subject.includes(".wait."))
  )

describe("deliveries over lanes", () => {
  it.live("from the start go each to the lane of its endpoint, once and in order", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      yield* Effect.gen(function* () {
        yield* dispatcher(server, receiver, 4)
        const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
        const steady = yield* steadily(40)
        yield* steady.after(60)
        const last = yield* steady.stop
        yield* eventually(Effect.sync(() => isComplete(receiver, first, last)))
        yield* eventually(Effect.map(leftIn(4), (left) => left.length === 0))
        for (const name of names) {
          assert.deepStrictEqual(
            sequencesTo(receiver, path(name)).toSorted((one, other) => one - other),
            firsts(receiver, name)
          )
          assert.isTrue(isAscending(sequencesTo(receiver, path(name))), name)
        }
        const used = new Set(names.map((name) => deliveryLaneOf(endpointIdOf(name), 4)))
        assert.isAbove(used.size, 1)
        for (const [lane, { lastSequence }] of (yield* streamsOf(4)).entries()) {
          assert.strictEqual(lastSequence > last - first, used.has(lane), `lane ${lane}`)
        }
      }).pipe(Effect.provide(busOn(server, topologyOf(4))))
    })
  )

  it.live("change from 2 to 4 and back under load with every process killed, and lose nothing nor their order", () =>
    Effect.gen(function* () {
      const { server, receiver } = yield* setUp
      // A retry is on its way while its endpoint moves.
      for (const name of names.slice(0, 2)) receiver.answer(path(name), (nth) => (nth % 10 === 3 ? 503 : 204))
      yield* Effect.gen(function* () {
        const [one, two] = yield* Effect.all([dispatcher(server, receiver, 2), dispatcher(server, receiver, 2)])
        const first = (yield* (yield* StreamReader).bounds("EVENTS")).lastSequence + 1
        const steady = yield* steadily(40)
        yield* steady.after(40)
        yield* eventually(isSettledAt(2))

        const [three] = yield* Effect.all([dispatcher(server, receiver, 4), one.kill("SIGKILL")], {
          concurrency: "unbounded"
        })
        yield* steady.after(20)
        assert.isTrue(yield* isSettledAt(2), "the number waits for the last dispatcher of the old one")
        yield* two.kill("SIGTERM")
        const four = yield* dispatcher(server, receiver, 4)
        yield* three.kill("SIGKILL")
        yield* eventually(isSettledAt(4))
        yield* steady.after(20)

        yield* Effect.promise(() => server.kill9())
        yield* Effect.promise(() => server.start())
        yield* steady.after(20)
        const five = yield* dispatcher(server, receiver, 2)
        yield* four.kill("SIGKILL")
        yield* Effect.promise(() => server.kill9())
        yield* Effect.promise(() => server.start())
        yield* eventually(isSettledAt(2))
        yield* steady.after(20)
        const last = yield* steady.stop
        yield* eventually(Effect.sync(() => isComplete(receiver, first, last)))
        yield* eventually(Effect.map(leftIn(4), (left) => left.length === 0))
        yield* five.kill("SIGTERM")

        for (const name of names) {
          const requests = requestsTo(receiver, path(name))
          const ids = requests.map(({ headers }) => headers["x-service-delivery"])
          const sequences = sequencesTo(receiver, path(name))
          // Whatever came again was the same delivery: a retry, or unacked when a process was killed.
          assert.strictEqual(new Set(ids).size, new Set(sequences).size, name)
          if (!names.slice(0, 2).includes(name)) assert.isAtMost(repeats(ids), 5, name)
          assert.isTrue(isAscending(firsts(receiver, name)), `${name} got ${firsts(receiver, name).join(" ")}`)
        }
      }).pipe(Effect.provide(busOn(server, topologyOf(4))))
    })
  )
})
