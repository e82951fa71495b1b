import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Latch, Option, Ref, Schedule, Schema } from "effect"
import { consume, Consumers, ack, nak, Nats, Publisher, StreamReader } from "#bus"
import { Rejection } from "#base"
import { withBus } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { consumer, note, trial } from "./trial.ts"

describe("consuming", () => {
  it.live("hands each message over once, and many at a time", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const seen = yield* Ref.make<ReadonlyArray<string>>([])
          yield* Effect.forEach([1, 2, 3, 4, 5], (n) => publisher.publish(`work.${n}`, note, { text: `${n}` }))
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: ({ value }) =>
              Effect.as(
                Ref.update(seen, (all) => [...all, value.text]),
                ack
              )
          })
          yield* eventually(Ref.get(seen), { is: (all) => all.length === 5 })
          const consumers = yield* Consumers
          yield* eventually(consumers.backlog("WORK", "worker"), {
            is: ({ pending, unacked }) => pending + unacked === 0
          })
          assert.deepStrictEqual(yield* Ref.get(seen), ["1", "2", "3", "4", "5"])
        }),
      trial
    )
  )

  it.live("puts messages that break their schema into REJECTED with the path, and continues", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const reader = yield* StreamReader
          const seen = yield* Deferred.make<string>()
          const token = "ghp_0123456789abcdefghij0123456789abcdef"
          const utf8 = new TextEncoder()
          yield* publisher.publishRaw("work.bad", utf8.encode(`{"text":7, "note":"it was ${token}"}`))
          yield* publisher.publishRaw("work.worse", new Uint8Array([0xff, 0xfe]))
          yield* publisher.publishRaw("work.worst", utf8.encode(`it was ${token}`))
          yield* publisher.publish("work.good", note, { text: "good" })
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: ({ value }) => Effect.as(Deferred.succeed(seen, value.text), ack)
          })
          assert.strictEqual(yield* Deferred.await(seen), "good")
          yield* eventually(reader.bounds("REJECTED"), { is: ({ messages }) => messages === 3 })
          const kept = (sequence: number) =>
            Effect.map(reader.next("REJECTED", sequence), (message) => {
              const text = Option.match(message, {
                onNone: () => "",
                onSome: ({ data }) => new TextDecoder().decode(data)
              })
              assert.notInclude(text, "ghp_")
              const rejection = Schema.decodeUnknownSync(Rejection)(JSON.parse(text))
              return { ...rejection, payload: Buffer.from(rejection.payloadBase64, "base64") }
            })
          const [bad, worse, worst] = [yield* kept(1), yield* kept(2), yield* kept(3)]
          assert.deepInclude(bad, { origin: "trial", subject: "work.bad" })
          assert.strictEqual(bad.faults[0]?.path, "/text")
          assert.strictEqual(bad.payload.toString(), `{"text":7, "note":"it was [github-token]"}`)
          assert.deepStrictEqual([...worse.payload], [0xff, 0xfe])
          assert.strictEqual(worst.payload.toString(), "it was [github-token]")
        }),
      trial
    )
  )

  it.live("keeps long work by heartbeats, and redelivers work that is handed back", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const starts = yield* Ref.make(0)
          const finish = yield* Deferred.make<void>()
          yield* publisher.publish("work.long", note, { text: "long" })
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: () =>
              Effect.gen(function* () {
                const start = yield* Ref.updateAndGet(starts, (count) => count + 1)
                if (start === 1) return nak(0)
                // Twice the ack wait: without heartbeats another consumer would have it by now.
                yield* Effect.sleep("3 seconds")
                yield* Deferred.succeed(finish, undefined)
                return ack
              })
          })
          yield* Deferred.await(finish)
          assert.strictEqual(yield* Ref.get(starts), 2)
        }),
      trial
    )
  )

  it.live("survives a dying handler", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const seen = yield* Deferred.make<string>()
          yield* publisher.publish("work.a", note, { text: "poison" })
          yield* publisher.publish("work.b", note, { text: "good" })
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: ({ value }) =>
              value.text === "poison"
                ? Effect.die(new Error("a bug"))
                : Effect.as(Deferred.succeed(seen, value.text), ack)
          })
          assert.strictEqual(yield* Deferred.await(seen), "good")
        }),
      trial
    )
  )

  it.live("finishes running work on drain, and hands back the rest at once", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const consumers = yield* Consumers
          yield* publisher.publish("work.quick", note, { text: "quick" })
          yield* publisher.publish("work.slow", note, { text: "slow" })
          const goOn = yield* Deferred.make<void>()
          const consumption = yield* consume({
            consumer: { ...consumer, ackWaitMs: 60_000 },
            codec: note,
            origin: "trial",
            handler: ({ value }) => Effect.as(value.text === "slow" ? Effect.never : Deferred.await(goOn), ack)
          })
          yield* eventually(() => consumption.inFlight(), { is: 2 })
          const draining = yield* Effect.forkChild(consumption.drain(2_000), { startImmediately: true })
          yield* Deferred.succeed(goOn, undefined)
          assert.deepStrictEqual(yield* Fiber.join(draining), { finished: 1, handedBack: 1 })
          yield* eventually(consumers.backlog("WORK", "worker"), { is: ({ unacked }) => unacked <= 1 })
          const other = yield* Deferred.make<string>()
          yield* consume({
            consumer: { ...consumer, ackWaitMs: 60_000 },
            codec: note,
            origin: "trial",
            handler: ({ value }) => Effect.as(Deferred.succeed(other, value.text), ack)
          })
          assert.strictEqual(yield* Deferred.await(other).pipe(Effect.timeout("5 seconds")), "slow")
        }),
      trial
    )
  )

  it.live("has no more in work than its process may, though the consumer allows more, and takes all in the end", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const consumers = yield* Consumers
          const count = 40
          yield* Effect.forEach(
            Array.from({ length: count }, (_, index) => index),
            (n) => publisher.publish(`work.${n}`, note, { text: `${n}` }),
            { discard: true }
          )
          const seen = new Set<string>()
          let [inWork, most, handedBack] = [0, 0, 0]
          const goOn = yield* Latch.make(false)
          yield* consume({
            consumer: { ...consumer, unackedMax: 1_000 },
            inWorkMax: 3,
            codec: note,
            origin: "trial",
            handler: ({ value: { text } }) =>
              Effect.gen(function* () {
                inWork += 1
                most = Math.max(most, inWork)
                yield* goOn.await
                inWork -= 1
                if (!seen.has(text) && Number(text) % 10 === 0) {
                  handedBack += 1
                  seen.add(text)
                  return nak(20)
                }
                seen.add(text)
                return ack
              })
          })
          yield* eventually(() => inWork, { is: 3 })
          const { pending, unacked } = yield* consumers.backlog("WORK", "worker")
          assert.deepStrictEqual({ pending, unacked }, { pending: count - 3, unacked: 3 })
          yield* goOn.open
          const isDone = Effect.map(consumers.backlog("WORK", "worker"), (left) => left.pending + left.unacked === 0)
          yield* eventually(isDone)

          assert.deepStrictEqual({ most, handedBack, seen: seen.size }, { most: 3, handedBack: 4, seen: count })
        }),
      trial
    )
  )

  it.live("hands back no more in a while than its process may have in work, where nothing can be done", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          yield* Effect.forEach(
            Array.from({ length: 40 }, (_, index) => index),
            (n) => publisher.publish(`work.${n}`, note, { text: `${n}` }),
            { discard: true }
          )
          let handedBack = 0
          yield* consume({
            consumer: { ...consumer, unackedMax: 1_000 },
            inWorkMax: 4,
            codec: note,
            origin: "trial",
            handler: () => Effect.sync(() => ((handedBack += 1), nak(60_000)))
          })
          yield* eventually(() => handedBack, { is: 4 })
          const consumers = yield* Consumers
          // Nobody asks for more.
          yield* eventually(consumers.page("WORK", 0), { is: ({ consumers: [figures] }) => figures?.waiting === 0 })

          assert.strictEqual((yield* consumers.backlog("WORK", "worker")).pending, 36)
          assert.strictEqual(handedBack, 4)
        }),
      trial
    )
  )

  it.live("counts the work that ended last on drain, too", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          yield* publisher.publish("work.quick", note, { text: "quick" })
          const goOn = yield* Deferred.make<void>()
          const consumption = yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: () => Effect.as(Deferred.await(goOn), ack)
          })
          yield* eventually(() => consumption.inFlight(), { is: 1 })
          const draining = yield* Effect.forkChild(consumption.drain(10_000), { startImmediately: true })
          yield* Effect.sleep("50 millis")
          yield* Deferred.succeed(goOn, undefined)
          assert.deepStrictEqual(yield* Fiber.join(draining), { finished: 1, handedBack: 0 })
        }),
      trial
    )
  )

  it.live.each([undefined, 4])(
    "continues after the broker was killed, and repeats no finished message (%s at once)",
    (inWorkMax) =>
      withBus(
        (server) =>
          Effect.gen(function* () {
            const publisher = yield* Publisher
            const seen = yield* Ref.make<ReadonlyArray<{ readonly text: string; readonly sequence: number }>>([])
            yield* consume({
              consumer,
              ...(inWorkMax === undefined ? {} : { inWorkMax }),
              codec: note,
              origin: "trial",
              handler: ({ value, sequence }) =>
                Effect.as(
                  Ref.update(seen, (all) => [...all, { text: value.text, sequence }]),
                  ack
                )
            })
            const publish = (n: number) =>
              publisher
                .publish("work.x", note, { text: `${n}` }, { messageId: `${n}` })
                .pipe(Effect.retry({ times: 50, schedule: Schedule.spaced("100 millis") }))
            yield* Effect.forEach(
              Array.from({ length: 50 }, (_, index) => index),
              publish,
              { discard: true }
            )
            yield* Effect.promise(() => server.kill9())
            yield* Effect.promise(() => server.start())
            const nats = yield* Nats
            yield* eventually(nats.isConnected)
            yield* Effect.forEach(
              Array.from({ length: 50 }, (_, index) => 50 + index),
              publish,
              { discard: true }
            )
            yield* eventually(Ref.get(seen), { is: (all) => new Set(all.map(({ text }) => text)).size === 100 })
            // A message that the publisher had to send again is another message; none was handled twice.
            const sequences = (yield* Ref.get(seen)).map(({ sequence }) => sequence)
            assert.strictEqual(new Set(sequences).size, sequences.length)
          }),
        trial
      )
  )
})
