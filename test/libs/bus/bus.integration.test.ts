import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Option, Ref, Schedule, Schema, Stream } from "effect"
import {
  applyTopology,
  consume,
  type ConsumerDeclaration,
  Consumers,
  done,
  handBack,
  jsonCodec,
  Kv,
  Leases,
  Nats,
  Objects,
  Publisher,
  Requests,
  scheduleHeaders,
  StreamReader,
  topology,
  type Topology
} from "#bus"
import { eventually, withBus } from "../../support/bus.ts"

const Note = Schema.Struct({ text: Schema.String })
const note = jsonCodec(Note)
const dayMs = 86_400_000

const trial: Topology = {
  streams: [
    {
      name: "WORK",
      why: "A work queue for these tests.",
      subjects: ["work.>"],
      retention: "workqueue",
      storage: "file",
      discard: "old",
      ageMsMax: null,
      bytesMax: null,
      messageBytesMax: null,
      features: ["atomic batches", "schedules", "rollup", "direct reads"],
      publishers: [],
      readers: []
    },
    {
      name: "SMALL",
      why: "A stream that refuses when it is full.",
      subjects: ["small.>"],
      retention: "limits",
      storage: "file",
      discard: "new",
      ageMsMax: dayMs,
      bytesMax: 1_024,
      messageBytesMax: null,
      features: [],
      publishers: [],
      readers: []
    },
    ...topology.streams.filter((stream) => stream.name === "REJECTED")
  ],
  buckets: [
    {
      name: "notes",
      why: "",
      ttlMs: null,
      keyTtl: false,
      valueBytesMax: 1_024,
      leaderReads: true,
      writers: [],
      readers: []
    },
    ...topology.buckets.filter((bucket) => bucket.name === "leases")
  ],
  objectStores: [{ name: "blobs", why: "", ttlMs: null, bytesMax: null, writers: [], readers: [] }]
}

const consumer: ConsumerDeclaration = {
  stream: "WORK",
  durable: "worker",
  filterSubjects: ["work.>"],
  unackedMax: 8,
  ackWaitMs: 1_500
}

describe("publishing", () => {
  it.live("tells where a message is stored, and stores an id once", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const first = yield* publisher.publish("work.a", note, { text: "hello" }, { messageId: "1" })
          const again = yield* publisher.publish("work.a", note, { text: "hello" }, { messageId: "1" })
          assert.deepInclude(first, { stream: "WORK", sequence: 1, duplicate: false })
          assert.deepInclude(again, { sequence: 1, duplicate: true })
        }),
      trial
    )
  )

  it.live("is refused by a full stream, by a stale sequence, and by nobody listening, each by its name", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const large = new Uint8Array(700)
          yield* publisher.publishRaw("small.a", large)
          assert.strictEqual((yield* Effect.flip(publisher.publishRaw("small.a", large)))._tag, "StreamFull")
          const stale = publisher.publishRaw("work.a", large, { expectedLastSubjectSequence: 99 })
          assert.strictEqual((yield* Effect.flip(stale))._tag, "RevisionConflict")
          assert.strictEqual((yield* Effect.flip(publisher.publishRaw("nowhere", large)))._tag, "BusUnavailable")
        }),
      trial
    )
  )
})

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
                done
              )
          })
          yield* eventually(Effect.map(Ref.get(seen), (all) => all.length === 5))
          const consumers = yield* Consumers
          yield* eventually(
            Effect.map(consumers.backlog("WORK", "worker"), ({ pending, unacked }) => pending + unacked === 0)
          )
          assert.deepStrictEqual(yield* Ref.get(seen), ["1", "2", "3", "4", "5"])
        }),
      trial
    )
  )

  it.live("puts what breaks its schema into REJECTED with the path, and goes on", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const reader = yield* StreamReader
          const seen = yield* Deferred.make<string>()
          yield* publisher.publishRaw("work.bad", new TextEncoder().encode(`{"text":7}`))
          yield* publisher.publishRaw("work.worse", new Uint8Array([0xff, 0xfe]))
          yield* publisher.publish("work.good", note, { text: "good" })
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: ({ value }) => Effect.as(Deferred.succeed(seen, value.text), done)
          })
          assert.strictEqual(yield* Deferred.await(seen), "good")
          yield* eventually(Effect.map(reader.bounds("REJECTED"), ({ messages }) => messages === 2))
          const rejected = yield* reader.next("REJECTED", 1)
          const text = Option.match(rejected, {
            onNone: () => "",
            onSome: ({ data }) => new TextDecoder().decode(data)
          })
          assert.deepInclude(JSON.parse(text), { origin: "trial", subject: "work.bad" })
          assert.strictEqual((JSON.parse(text) as { faults: Array<{ path: string }> }).faults[0]?.path, "/text")
        }),
      trial
    )
  )

  it.live("keeps long work to itself by heartbeats, and gives handed back work out again", () =>
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
                if (start === 1) return handBack(0)
                // Twice the ack wait: without heartbeats somebody else would have it by now.
                yield* Effect.sleep("3 seconds")
                yield* Deferred.succeed(finish, undefined)
                return done
              })
          })
          yield* Deferred.await(finish)
          assert.strictEqual(yield* Ref.get(starts), 2)
        }),
      trial
    )
  )

  it.live("survives a handler that dies", () =>
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
                : Effect.as(Deferred.succeed(seen, value.text), done)
          })
          assert.strictEqual(yield* Deferred.await(seen), "good")
        }),
      trial
    )
  )

  it.live("lets what runs finish on drain, and hands back the rest at once", () =>
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
            handler: ({ value }) => Effect.as(value.text === "slow" ? Effect.never : Deferred.await(goOn), done)
          })
          yield* eventually(Effect.sync(() => consumption.inFlight() === 2))
          const draining = yield* Effect.forkChild(consumption.drain(2_000), { startImmediately: true })
          yield* Deferred.succeed(goOn, undefined)
          assert.deepStrictEqual(yield* Fiber.join(draining), { finished: 1, handedBack: 1 })
          yield* eventually(Effect.map(consumers.backlog("WORK", "worker"), ({ unacked }) => unacked <= 1))
          const other = yield* Deferred.make<string>()
          yield* consume({
            consumer: { ...consumer, ackWaitMs: 60_000 },
            codec: note,
            origin: "trial",
            handler: ({ value }) => Effect.as(Deferred.succeed(other, value.text), done)
          })
          assert.strictEqual(yield* Deferred.await(other).pipe(Effect.timeout("5 seconds")), "slow")
        }),
      trial
    )
  )

  it.live("counts on drain the one that ended last, too", () =>
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
            handler: () => Effect.as(Deferred.await(goOn), done)
          })
          yield* eventually(Effect.sync(() => consumption.inFlight() === 1))
          const draining = yield* Effect.forkChild(consumption.drain(10_000), { startImmediately: true })
          yield* Effect.sleep("50 millis")
          yield* Deferred.succeed(goOn, undefined)
          assert.deepStrictEqual(yield* Fiber.join(draining), { finished: 1, handedBack: 0 })
        }),
      trial
    )
  )

  it.live("goes on after the broker was killed, and handles nothing twice that it finished", () =>
    withBus(
      (server) =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const seen = yield* Ref.make<ReadonlyArray<{ readonly text: string; readonly sequence: number }>>([])
          yield* consume({
            consumer,
            codec: note,
            origin: "trial",
            handler: ({ value, sequence }) =>
              Effect.as(
                Ref.update(seen, (all) => [...all, { text: value.text, sequence }]),
                done
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
          yield* eventually(Effect.sync(nats.isConnected))
          yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => 50 + index),
            publish,
            { discard: true }
          )
          yield* eventually(
            Effect.map(Ref.get(seen), (all) => new Set(all.map(({ text }) => text)).size === 100),
            20_000
          )
          // What the publisher had to send again is another message; none was handled twice.
          const sequences = (yield* Ref.get(seen)).map(({ sequence }) => sequence)
          assert.strictEqual(new Set(sequences).size, sequences.length)
        }),
      trial
    )
  )
})

describe("a schedule", () => {
  it.live("moves a message to its target at its time, not before", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const publisher = yield* Publisher
          const arrived = yield* Deferred.make<number>()
          yield* consume({
            consumer: { ...consumer, filterSubjects: ["work.due"] },
            codec: note,
            origin: "trial",
            handler: () =>
              Effect.flatMap(Clock.currentTimeMillis, (atMs) => Effect.as(Deferred.succeed(arrived, atMs), done))
          })
          const dueAtMs = (yield* Clock.currentTimeMillis) + 1_500
          yield* publisher.publish(
            "work.wait.1",
            note,
            { text: "later" },
            { headers: scheduleHeaders(dueAtMs, "work.due") }
          )
          const atMs = yield* Deferred.await(arrived)
          assert.isTrue(atMs >= dueAtMs - 300 && atMs < dueAtMs + 1_000, `${atMs - dueAtMs} ms off`)
        }),
      trial
    )
  )
})

describe("a bucket", () => {
  it.live("changes only by compare-and-set, and tells its changes", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const bucket = yield* (yield* Kv).open("notes", Note)
          const changes = yield* Ref.make<ReadonlyArray<string>>([])
          yield* bucket.changes.pipe(
            Stream.runForEach(({ entry }) =>
              Ref.update(changes, (all) => [
                ...all,
                Option.match(entry, { onNone: () => "-", onSome: ({ value }) => value.text })
              ])
            ),
            Effect.forkScoped
          )
          const first = yield* bucket.create("a", { text: "one" })
          assert.strictEqual((yield* Effect.flip(bucket.create("a", { text: "other" })))._tag, "RevisionConflict")
          const second = yield* bucket.update("a", { text: "two" }, first)
          assert.strictEqual((yield* Effect.flip(bucket.update("a", { text: "x" }, first)))._tag, "RevisionConflict")
          assert.deepStrictEqual(Option.getOrThrow(yield* bucket.get("a")), {
            key: "a",
            value: { text: "two" },
            revision: second
          })
          yield* bucket.remove("a", second)
          assert.isTrue(Option.isNone(yield* bucket.get("a")))
          assert.deepStrictEqual(yield* bucket.entries, [])
          yield* eventually(Effect.map(Ref.get(changes), (all) => all.at(-1) === "-"))
          assert.includeMembers([...(yield* Ref.get(changes))], ["two", "-"])
        }),
      trial
    )
  )
})

describe("a lease", () => {
  it.live("has one holder, and passes on within seconds when the holder is gone", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const leases = yield* Leases
          const holders = yield* Ref.make<ReadonlyArray<string>>([])
          const hold = (holder: string) =>
            leases.whileHeld(
              { key: "job", holder },
              Effect.andThen(
                Ref.update(holders, (all) => [...all, holder]),
                Effect.never
              )
            )
          const first = yield* Effect.forkChild(hold("first"))
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.length === 1))
          const second = yield* Effect.forkChild(hold("second"))
          yield* Effect.sleep("4 seconds")
          assert.deepStrictEqual(yield* Ref.get(holders), ["first"])
          yield* Fiber.interrupt(first)
          yield* eventually(Effect.map(Ref.get(holders), (all) => all.at(-1) === "second"))
          yield* Fiber.interrupt(second)
        }),
      trial
    )
  )
})

describe("questions between roles", () => {
  it.live("are answered by one of the group; nobody there is known at once; a bad one is refused", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const requests = yield* Requests
          const ask = { subject: "ask.me", question: note, answer: note, timeoutMs: 2_000 }
          const nobody = yield* Effect.flip(requests.ask(ask, { text: "hello?" }))
          assert.strictEqual(nobody._tag, "BusUnavailable")
          yield* requests.answer({
            subject: "ask.me",
            queueGroup: "answerers",
            question: note,
            answer: note,
            concurrency: 4,
            handler: ({ text }) => Effect.succeed({ text: text.toUpperCase() })
          })
          assert.deepStrictEqual(yield* requests.ask(ask, { text: "hello" }), { text: "HELLO" })
          const wrong = { ...ask, question: jsonCodec(Schema.Struct({ text: Schema.Finite })) }
          assert.strictEqual((yield* Effect.flip(requests.ask(wrong, { text: 7 })))._tag, "BusRefused")
        }),
      trial
    )
  )
})

describe("an object store", () => {
  it.live.each<readonly [what: string, bytes: number]>([
    ["nothing", 0],
    ["a few bytes", 5],
    ["a chunk to the byte", 128 * 1_024],
    ["several chunks and a bit", 3 * 128 * 1_024 + 1]
  ])("takes %s that is in memory in one go, and gives it as any other object", ([, bytes]) =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          const name = "an answer/with a name?"
          const content = Uint8Array.from({ length: bytes }, (_, index) => index % 251)
          const older = yield* objects.putWhole("blobs", name, Uint8Array.of(1, 2, 3))
          const stored = yield* objects.putWhole("blobs", name, content)
          assert.notStrictEqual(stored.digest, older.digest)
          assert.deepStrictEqual(Option.getOrThrow(yield* objects.info("blobs", name)), stored)
          const parts = yield* Stream.runCollect(objects.get("blobs", name))
          assert.isTrue(Buffer.concat(parts).equals(content))
        }),
      trial
    )
  )

  it.live("takes and gives large objects in pieces", () =>
    withBus(
      () =>
        Effect.gen(function* () {
          const objects = yield* Objects
          const piece = new Uint8Array(100_000).fill(7)
          const stored = yield* objects.put(
            "blobs",
            "large",
            Stream.fromIterable(Array.from({ length: 30 }, () => piece))
          )
          assert.strictEqual(stored.bytes, 3_000_000)
          const back = yield* Stream.runFold(
            objects.get("blobs", "large"),
            () => 0,
            (sum, chunk) => sum + chunk.length
          )
          assert.strictEqual(back, 3_000_000)
          yield* objects.remove("blobs", "large")
          assert.isTrue(Option.isNone(yield* objects.info("blobs", "large")))
          assert.strictEqual((yield* Effect.flip(Stream.runDrain(objects.get("blobs", "large"))))._tag, "BusNotFound")
        }),
      trial
    )
  )
})

describe("the topology", () => {
  it.live("is created once, left alone the second time, and every difference is named when only verified", () =>
    withBus(() =>
      Effect.gen(function* () {
        yield* applyTopology(topology, { mode: "create", replicas: 1 })
        yield* applyTopology(topology, { mode: "verify", replicas: 1 })
        const wrong = yield* Effect.flip(applyTopology(trial, { mode: "verify", replicas: 1 }))
        assert.strictEqual(wrong._tag, "TopologyMismatch")
        assert.include(wrong.message, "stream WORK does not exist")
      })
    )
  )
})
