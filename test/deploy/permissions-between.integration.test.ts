import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Schema } from "effect"
import {
  coreSubjects,
  jsonCodec,
  Kv,
  Leases,
  Mailbox,
  type Party,
  Requests,
  StreamReader,
  topology,
  userOf
} from "#bus"
import { announcementsOf } from "../../libs/bus/topology/topology.ts"
import { eventually } from "../../dev/fixtures/bus.ts"
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
  const pairs = questions.flatMap(({ name, subjects, senders, receivers }) =>
    senders.flatMap((asker) => receivers.map((answerer) => ({ name, asker, answerer, subject: subjects[0] ?? "" })))
  )

  it.live.each(pairs)("$asker asks $answerer: $name", ({ asker, answerer, subject }) =>
    Effect.gen(function* () {
      const asked = sample(subject, "trial")
      const answering = yield* Layer.build(busAs(answerer))
      yield* Effect.provide(
        Effect.flatMap(Requests, (requests) =>
          requests.answer({
            subject,
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

      yield* eventually(Effect.map(Effect.provide(send, sending), () => got.length > 0))

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
      yield* eventually(Effect.sync(() => held))
      yield* Fiber.interrupt(holding)

      const reader = yield* StreamReader
      const left = yield* reader.last("KV_leases", `$KV.leases.${lease.key}`)
      assert.isTrue(Option.isNone(left))
    }).pipe(Effect.scoped, Effect.provide(busAs(holder)))
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
      yield* eventually(Effect.map(Effect.provide(write, writing), () => heard.includes(key)))

      assert.include(heard, `stored.$KV.${bucket}.${key} `)
    }).pipe(Effect.scoped)
  )
})
