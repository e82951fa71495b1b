import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { createInbox } from "@nats-io/nats-core"
import { Effect, Fiber, Layer, Option, Schema } from "effect"
import {
  ack,
  consume,
  type ConsumerDeclaration,
  Consumers,
  coreSubjects,
  jsonCodec,
  Kv,
  Leases,
  Mailbox,
  type Party,
  Publisher,
  readyConsumer,
  Requests,
  StreamReader,
  topology,
  userOf
} from "#bus"
import { announcementsOf } from "../../libs/bus/topology/topology.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { busAs as busFor, sample } from "../support/bus-as.ts"
import { connectAs, startFleetBroker } from "../support/fleet-broker.ts"
import { startFleetClusters } from "../support/fleet-clusters.ts"

let server: TestNatsServer

const busAs = (party: Party) => busFor(() => server, party)

// Six servers and some fifty streams with three replicas each.
const startWithinMs = 120_000

const codec = jsonCodec(Schema.Struct({ said: Schema.String }))
const value = { said: "hello" }

describe.each([
  ["of one server", startFleetBroker],
  ["of two clusters behind gateways", startFleetClusters]
])("roles that call each other, on a broker %s,", (_, start) => {
  beforeAll(async () => void (server = await start()), startWithinMs)
  afterAll(() => server.stop())

  const questions = coreSubjects.filter(({ kind }) => kind === "question")
  const pairs = questions.flatMap(({ name, subjects: [subject = ""], arrivesOn = [subject], senders, receivers }) =>
    senders.flatMap((asker) => receivers.map((answerer) => ({ name, asker, answerer, subject, arrivesOn })))
  )

  it.live.each(pairs)("$asker asks $answerer: $name", ({ asker, answerer, subject, arrivesOn }) =>
    Effect.gen(function* () {
      const asked = sample(subject, "trial")
      const answering = yield* Layer.build(busAs(answerer))
      yield* Effect.provide(
        Effect.flatMap(Requests, (requests) =>
          requests.answer({
            subject: arrivesOn[0] ?? subject,
            queueGroup: answerer,
            question: codec,
            answer: codec,
            concurrency: 1,
            handler: ({ said }) => Effect.succeed({ said: `${said} yourself` })
          })
        ),
        answering
      )
      const ask = Effect.flatMap(Requests, (requests) =>
        requests.ask({ subject: asked, question: codec, answer: codec, timeoutMs: 2_000 }, value)
      ).pipe(Effect.retry({ times: 20 }))

      const answer = yield* Effect.provide(ask, busAs(asker))

      assert.deepStrictEqual(answer, { said: "hello yourself" })
    }).pipe(Effect.scoped)
  )

  const mails = coreSubjects
    .filter(({ kind }) => kind === "mailbox")
    .flatMap(({ senders, receivers }) => senders.flatMap((from) => receivers.map((to) => ({ from, to }))))

  it.live.each(mails)("$from sends to a process of $to", ({ from, to }) =>
    Effect.gen(function* () {
      const receiving = yield* Layer.build(busAs(to))
      const sending = yield* Layer.build(busAs(from))
      const got: Array<string> = []
      const { instance } = yield* Effect.provide(Mailbox, receiving)
      yield* Effect.provide(
        Effect.flatMap(Mailbox, (mailbox) =>
          mailbox.open("session", (bytes) => void got.push(new TextDecoder().decode(bytes)))
        ),
        receiving
      )
      const send = Effect.map(Mailbox, (mailbox) => mailbox.send(instance, "session", new TextEncoder().encode("hi")))

      yield* eventually(Effect.provide(send, sending), { is: () => got.length > 0 })

      assert.strictEqual(got[0], "hi")
    }).pipe(Effect.scoped)
  )

  const holders = topology.buckets.find(({ name }) => name === "leases")?.writers ?? []

  it.live.each(holders)("%s takes a lease and gives it back", (holder) =>
    Effect.gen(function* () {
      let held = false
      const lease = { key: `lease-of-${holder}`, holder }
      const work = Effect.andThen(
        Effect.sync(() => (held = true)),
        Effect.never
      )
      const holding = yield* Effect.forkScoped(Effect.flatMap(Leases, (leases) => leases.whileHeld(lease, work)))
      yield* eventually(() => held)
      yield* Fiber.interrupt(holding)

      const reader = yield* StreamReader
      const left = yield* reader.last("KV_leases", `$KV.leases.${lease.key}`)
      assert.isTrue(Option.isNone(left))
    }).pipe(Effect.scoped, Effect.provide(busAs(holder)))
  )

  /** A consumer that is made with its stream, who takes from it, and who publishes there. */
  const ready = topology.streams.flatMap(({ name, publishers, readyConsumers = [], subjects }) =>
    readyConsumers.map(({ reader }) => ({
      stream: name,
      reader,
      publisher: publishers[0] ?? reader,
      subject: sample(subjects[0] ?? "", "trial"),
      consumer: readyConsumer(name, reader)
    }))
  )
  type Ready = (typeof ready)[number]

  const published = ({ publisher: party, subject }: Ready, said: ReadonlyArray<string>) =>
    Effect.flatMap(Publisher, (publisher) =>
      Effect.forEach(said, (each) => publisher.publish(subject, codec, { said: each }))
    ).pipe(Effect.provide(busAs(party)))

  /** Until these have come; what others left behind is put away. */
  const take = Effect.fnUntraced(function* (consumer: ConsumerDeclaration, wanted: ReadonlyArray<string>) {
    const taken: Array<string> = []
    const handler = ({ value: { said } }: { readonly value: { readonly said: string } }) =>
      Effect.sync(() => (taken.push(said), ack))
    const consumption = yield* consume({ consumer, inWorkMax: 4, codec, origin: "trial", handler })
    yield* eventually(() => wanted.every((said) => taken.includes(said)))
    return { taken, consumption }
  })

  const waiting = (stream: string) =>
    Effect.flatMap(Consumers, (consumers) => consumers.page(stream, 0)).pipe(
      Effect.map(({ consumers: [first] }) => first?.waiting),
      Effect.provide(busAs("console"))
    )

  it.live.each(ready)(
    "a process of $reader that ends leaves what comes into $stream to the next one, in order and at once",
    (one) =>
      Effect.gen(function* () {
        const { consumer } = one
        yield* published(one, ["first"])
        const { consumption } = yield* take(consumer, ["first"])
        yield* eventually(waiting(consumer.stream), { is: (count) => count === 1 })
        yield* consumption.drain(1_000)
        const names = ["second", "third", "fourth", "fifth", "sixth"]
        yield* published(one, names)
        const sinceMs = performance.now()
        const { taken } = yield* take(consumer, names)

        assert.deepStrictEqual(taken, names)
        assert.isBelow(performance.now() - sinceMs, consumer.ackWaitMs)
      }).pipe(Effect.scoped, Effect.provide(busAs(one.reader)))
  )

  it.live.each(ready)("a process of $reader is held up by no empty message in $stream", (one) =>
    Effect.gen(function* () {
      const { consumer } = one
      const empty = Effect.flatMap(Publisher, (publisher) =>
        Effect.forEach(Array.from({ length: 8 }), () => publisher.publishRaw(one.subject, new Uint8Array(0)))
      ).pipe(Effect.provide(busAs(one.publisher)))
      const names = ["ninth", "tenth", "eleventh"]
      for (const name of names) {
        yield* empty
        yield* published(one, [name])
      }
      const sinceMs = performance.now()
      const { taken, consumption } = yield* take(consumer, names)

      assert.deepStrictEqual(taken, names)
      assert.isBelow(performance.now() - sinceMs, consumer.ackWaitMs)
      yield* eventually(() => consumption.inFlight(), { is: 0 })
    }).pipe(Effect.scoped, Effect.provide(busAs(one.reader)))
  )

  it.live.each(ready)(
    "a process of $reader gets what another had asked for of $stream before it died, after its ack wait at the latest",
    (one) =>
      Effect.gen(function* () {
        const { consumer } = one
        const dead = yield* Effect.promise(() => connectAs(server.url, consumer.durable))
        const inbox = createInbox(`_INBOX_${consumer.durable}`)
        dead.subscribe(inbox, { callback: () => {} })
        const next = `$JS.API.CONSUMER.MSG.NEXT.${consumer.stream}.${consumer.durable}`
        const ask = () => dead.publish(next, JSON.stringify({ batch: 64, expires: 2_000_000_000 }), { reply: inbox })
        // On a busy machine one may be over before the broker is looked at.
        yield* eventually(waiting(consumer.stream), {
          is: (count) => {
            if (count === 0) ask()
            return count === 1
          }
        })
        yield* Effect.promise(() => dead.close())
        const names = ["seventh", "eighth"]
        yield* published(one, names)
        const sinceMs = performance.now()
        yield* take(consumer, names)

        assert.isBelow(performance.now() - sinceMs, consumer.ackWaitMs + 2_500)
      }).pipe(Effect.scoped, Effect.provide(busAs(one.reader)))
  )

  const followers = topology.buckets
    .filter(({ isFollowed }) => isFollowed)
    .flatMap(({ name, readers, writers }) =>
      readers.map((reader) => ({ bucket: name, reader, writer: writers[0] ?? reader }))
    )

  it.live.each(followers)("$reader hears what $writer writes into $bucket", ({ bucket, reader, writer }) =>
    Effect.gen(function* () {
      const connection = yield* Effect.acquireRelease(
        Effect.promise(() => connectAs(server.url, userOf(reader))),
        (open) => Effect.promise(() => open.close())
      )
      const key = `heard-by-${userOf(reader)}`
      let heard = ""
      const [announcement = ""] = announcementsOf(`KV_${bucket}`)
      connection.subscribe(announcement, { callback: (_error, message) => void (heard += `${message.subject} `) })
      yield* Effect.promise(() => connection.flush())
      // An interest takes a moment to be known in all clusters.
      const write = Effect.gen(function* () {
        const entries = yield* (yield* Kv).open(bucket, Schema.Struct({ said: Schema.String }))
        const before = yield* entries.get(key)
        yield* Option.isNone(before) ? entries.create(key, value) : entries.update(key, value, before.value.revision)
      })
      const writing = yield* Layer.build(busAs(writer))
      yield* eventually(Effect.provide(write, writing), { is: () => heard.includes(key) })

      assert.include(heard, `stored.$KV.${bucket}.${key} `)
    }).pipe(Effect.scoped)
  )
})
