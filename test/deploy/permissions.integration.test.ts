import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Effect, Option, Schema, Stream } from "effect"
import {
  applyTopology,
  Consumers,
  consume,
  coreSubjects,
  ack,
  jsonCodec,
  Kv,
  nak,
  Objects,
  outsideEvents,
  parties,
  type Party,
  partOf,
  Publisher,
  readyConsumer,
  StreamReader,
  topology,
  userOf
} from "#bus"
import { eventCatalogue } from "#base"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { busAs as busFor, sample } from "../support/bus-as.ts"
import { connectAs, refusals, startFleetBroker } from "../support/fleet-broker.ts"

let server: TestNatsServer
beforeAll(async () => void (server = await startFleetBroker()))
afterAll(() => server.stop())

const busAs = (party: Party) => busFor(() => server, party)

const codec = jsonCodec(Schema.Struct({ said: Schema.String }))
const value = { said: "hello" }

const tokenOf = (party: Party) => `trial-${userOf(party)}`

const isReadDirectly = (features: ReadonlyArray<string>) => features.includes("direct reads")

const actorEvents = eventCatalogue.map(({ name }) => name).filter((name) => !outsideEvents.includes(name))

describe.each(parties)("%s, with the permissions of the topology,", (party) => {
  const part = partOf(topology, party)

  it.live("finds its streams as declared", () =>
    applyTopology(part, { mode: "verify", replicas: 1 }).pipe(Effect.provide(busAs(party)))
  )

  it.live.each(part.streams.filter(({ publishers }) => publishers.includes(party)))("publishes to $name", (stream) =>
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const subjects = stream.publishesOnly?.[party] ?? stream.subjects

      const stored = yield* Effect.forEach(subjects, (subject) =>
        publisher.publish(sample(subject, tokenOf(party)), codec, value)
      )

      assert.isTrue(stored.every(({ stream: name }) => name === stream.name))
    }).pipe(Effect.provide(busAs(party)))
  )

  it.live.each(part.streams.filter(({ publishesOnly }) => publishesOnly?.[party] !== undefined))(
    "publishes to $name only the subjects that are its own",
    (stream) =>
      Effect.gen(function* () {
        const publisher = yield* Publisher
        const others = stream.subjects.filter((subject) => stream.publishesOnly?.[party]?.includes(subject) === false)
        const refused = yield* Effect.forEach(others, (subject) =>
          Effect.flip(publisher.publish(sample(subject, tokenOf(party)), codec, value))
        )

        assert.isNotEmpty(refused)
        for (const { message } of refused) assert.include(message, "not allowed to publish")
      }).pipe(Effect.provide(busAs(party)))
  )

  it.live.each(part.streams.filter(({ readers, features }) => readers.includes(party) && isReadDirectly(features)))(
    "reads $name without a consumer",
    (stream) =>
      Effect.gen(function* () {
        const reader = yield* StreamReader
        const { lastSequence: before } = yield* reader.bounds(stream.name)
        const subject = sample(stream.subjects[0] ?? "", `read-by-${userOf(party)}`)
        yield* Effect.flatMap(Publisher, (publisher) => publisher.publish(subject, codec, value)).pipe(
          Effect.provide(busAs(stream.publishers[0] ?? party))
        )

        const read = yield* Stream.runCollect(
          reader.range(stream.name, { fromSequence: before + 1, toSequence: before + 1 })
        )

        assert.deepStrictEqual(
          read.map((message) => message.subject),
          [subject]
        )
      }).pipe(Effect.provide(busAs(party)))
  )

  it.live.each(part.streams.filter(({ consumers }) => consumers?.includes(party)))("consumes $name", (stream) =>
    Effect.gen(function* () {
      const writer = stream.publishers[0] ?? party
      const subject = sample(stream.subjects[0] ?? "", `consumed-by-${userOf(party)}`)
      yield* Effect.flatMap(Publisher, (publisher) => publisher.publish(subject, codec, value)).pipe(
        Effect.provide(busAs(writer))
      )
      const taken: Array<string> = []

      const consumption = yield* consume({
        consumer: {
          stream: stream.name,
          durable: tokenOf(party),
          filterSubjects: [subject],
          unackedMax: 8,
          ackWaitMs: 5_000
        },
        codec,
        origin: "trial",
        handler: (received) => Effect.sync(() => (taken.push(received.subject), ack))
      })
      yield* eventually(() => taken.length, { is: 1 })
      yield* consumption.drain(1_000)

      const reader = yield* StreamReader
      const { lastSequence } = yield* reader.bounds(stream.name)
      assert.isAbove(lastSequence, 0)
      yield* reader.last(stream.name, subject)
      const consumers = yield* Consumers
      // The broker has the acks once it has answered a later request.
      yield* eventually(consumers.backlog(stream.name, tokenOf(party)), { is: ({ unacked }) => unacked === 0 })
      if (stream.keepers?.includes(party) === true) {
        const nowMs = yield* Clock.currentTimeMillis
        yield* consumers.pause(stream.name, tokenOf(party), nowMs + 1_000)
        yield* reader.purge(stream.name, subject)
      }
      yield* consumers.remove(stream.name, tokenOf(party))
    }).pipe(Effect.scoped, Effect.provide(busAs(party)))
  )

  it.live.each(part.streams.filter(({ readyConsumers = [] }) => readyConsumers.length > 0))(
    "takes from $name by the consumer that was made for it, and makes none",
    (stream) =>
      Effect.gen(function* () {
        const consumer = readyConsumer(stream.name, party)
        const publishing = Effect.flatMap(Publisher, (publisher) =>
          Effect.forEach([1, 2, 3, 4, 5], (count) =>
            publisher.publish(sample(stream.subjects[0] ?? "", `consumed-by-${userOf(party)}`), codec, {
              said: `hello ${count}`
            })
          )
        )
        const { isReady: _, ...ownConsumer } = consumer
        const { backlog, ensure } = yield* Consumers
        const before = yield* backlog(consumer.stream, consumer.durable)
        yield* Effect.provide(publishing, busAs(stream.publishers[0] ?? party))
        const taken: Array<string> = []

        const consumption = yield* consume({
          consumer,
          inWorkMax: 2,
          codec,
          origin: "trial",
          // The first is handed back once.
          handler: ({ value: { said } }) => Effect.sync(() => (taken.push(said) === 1 ? nak(50) : ack))
        })
        yield* eventually(() => new Set(taken).size === before.pending + 5 && taken.length > new Set(taken).size)
        yield* eventually(backlog(consumer.stream, consumer.durable), { is: ({ unacked }) => unacked === 0 })
        yield* consumption.drain(1_000)

        const refused = yield* Effect.flip(ensure(ownConsumer))
        assert.strictEqual(refused._tag === "BusRefused" ? refused.forbidden?.operation : refused.message, "publish")
      }).pipe(Effect.scoped, Effect.provide(busAs(party)))
  )

  it.live.each(part.buckets)("has its permissions on the bucket $name", (bucket) =>
    Effect.gen(function* () {
      const entries = yield* (yield* Kv).open(bucket.name, Schema.Struct({ said: Schema.String }))
      const key = tokenOf(party)
      const writer = bucket.writers.includes(party) ? party : bucket.writers[0]
      assert.isDefined(writer)
      const write = Effect.gen(function* () {
        const owned = yield* (yield* Kv).open(bucket.name, Schema.Struct({ said: Schema.String }))
        yield* owned.create(key, value)
      })
      yield* Effect.provide(write, busAs(writer ?? party))

      const found = yield* entries.get(key)
      const watched = yield* entries.changes.pipe(Stream.take(1), Stream.runCollect)
      const all = yield* entries.entries

      assert.deepStrictEqual(
        Option.map(found, (entry) => entry.value),
        Option.some(value)
      )
      assert.strictEqual(watched.length, 1)
      assert.isTrue(all.some((entry) => entry.key === key))
      if (!bucket.writers.includes(party)) return
      const changed = yield* entries.update(key, value, Option.getOrThrow(found).revision)
      yield* entries.remove(key, changed)
    }).pipe(Effect.provide(busAs(party)))
  )

  it.live.each(part.objectStores)("has its permissions on the store $name", (store) =>
    Effect.gen(function* () {
      const bytes = new Uint8Array(300_000).fill(7)
      const name = tokenOf(party)
      const writer = store.writers.includes(party) ? party : store.writers[0]
      assert.isDefined(writer)
      const put = Effect.flatMap(Objects, (objects) => objects.put(store.name, name, Stream.make(bytes)))
      yield* Effect.provide(put, busAs(writer ?? party))
      const objects = yield* Objects

      const read = yield* Stream.runFold(
        objects.get(store.name, name),
        () => 0,
        (sum, piece) => sum + piece.length
      )

      assert.strictEqual(read, bytes.length)
      if (!store.writers.includes(party)) return
      yield* objects.put(store.name, name, Stream.make(bytes))
      yield* objects.remove(store.name, name)
      yield* objects.removeUnfinished(store.name, 0)
    }).pipe(Effect.provide(busAs(party)))
  )

  it.live("is refused everything else", () =>
    Effect.promise(async () => {
      const connection = await connectAs(server.url, userOf(party))
      const foreign = [
        ...topology.streams
          .filter(({ publishers }) => !publishers.includes(party))
          .flatMap(({ subjects }) => subjects.map((subject) => sample(subject, "foreign"))),
        ...topology.streams
          .filter(({ readers }) => !readers.includes(party))
          .map(({ name }) => `$JS.API.STREAM.MSG.GET.${name}`),
        ...topology.streams
          .filter(({ consumers }) => consumers?.includes(party) !== true)
          .map(({ name }) => `$JS.API.CONSUMER.CREATE.${name}.spy`),
        ...topology.buckets.map(({ name }) => `$JS.API.CONSUMER.CREATE.KV_${name}.spy`),
        ...topology.buckets.filter(({ writers }) => !writers.includes(party)).map(({ name }) => `$KV.${name}.foreign`),
        ...topology.buckets
          .filter(({ readers, writers }) => ![...readers, ...writers].includes(party))
          .flatMap(({ name }) => [`$JS.API.STREAM.MSG.GET.KV_${name}`, `$JS.API.DIRECT.GET.KV_${name}.$KV.${name}.x`]),
        ...topology.objectStores
          .filter(({ writers }) => !writers.includes(party))
          .flatMap(({ name }) => [`$O.${name}.C.x`, `$O.${name}.M.x`]),
        ...coreSubjects
          .filter(({ senders }) => !senders.includes(party))
          .flatMap(({ subjects }) => subjects.map((subject) => sample(subject, "foreign"))),
        ...topology.streams
          .filter(({ keepers }) => keepers?.includes(party) !== true)
          .flatMap(({ name }) => [`$JS.API.STREAM.PURGE.${name}`, `$JS.API.STREAM.MSG.DELETE.${name}`]),
        ...topology.streams.flatMap(({ name }) =>
          ["CREATE", "UPDATE", "DELETE", "SNAPSHOT", "RESTORE"].map((verb) => `$JS.API.STREAM.${verb}.${name}`)
        ),
        ...(party === "internal services" ? actorEvents.map((name) => `events.${name}`) : []),
        ...(party === "internal services"
          ? ["events-cursor", "events-from.internal-services.sandbox.leak_detected"]
          : []),
        "$JS.API.STREAM.LIST",
        "$SYS.REQ.SERVER.PING",
        "nobody.declared.this"
      ]
      const overheard = [
        ...parties.filter((other) => other !== party).map((other) => `_INBOX_${userOf(other)}.>`),
        "_INBOX.>",
        "$KV.>",
        "log.>",
        ">",
        ...coreSubjects.filter(({ receivers }) => !receivers.includes(party)).flatMap(({ subjects }) => subjects)
      ]

      const refused = await refusals(connection, () => {
        for (const subject of foreign) connection.publish(subject, "{}")
        for (const subject of overheard) connection.subscribe(subject, { callback: () => {} })
      })
      await connection.close()

      const expected = [
        ...foreign.map((subject) => `publish ${subject}`),
        ...overheard.map((subject) => `subscription ${subject}`)
      ]
      assert.deepStrictEqual([...new Set(refused)].toSorted(), [...new Set(expected)].toSorted())
    })
  )
})

describe("console, with the permissions of the topology,", () => {
  const stored = [
    ...topology.streams.map(({ name }) => name),
    ...topology.buckets.map(({ name }) => `KV_${name}`),
    ...topology.objectStores.map(({ name }) => `OBJ_${name}`)
  ]

  it.live.each(stored)("sees how much lies in %s", (name) =>
    Effect.gen(function* () {
      const { bytes } = yield* (yield* StreamReader).figures(name)
      assert.isAtLeast(bytes, 0)
    }).pipe(Effect.provide(busAs("console")))
  )

  it.live.each(topology.streams)("sees how far the consumers of $name are", ({ name }) =>
    Effect.gen(function* () {
      const { total, consumers } = yield* (yield* Consumers).page(name, 0)
      assert.lengthOf(consumers, total)
    }).pipe(Effect.provide(busAs("console")))
  )
})
