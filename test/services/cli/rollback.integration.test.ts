import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Option, Redacted, Schema, Stream } from "effect"
import { eventRelay } from "#actors"
import {
  ack,
  applyTopology,
  busServices,
  consume,
  type ConsumerDeclaration,
  Consumers,
  header,
  jsonCodec,
  nak,
  Nats,
  Publisher,
  readyConsumer,
  type SourceMessage,
  StreamReader,
  topology,
  type Topology,
  userOf
} from "#bus"
import { exampleEnvelope, reportsInWorkMax, storedEventName, subjects } from "#base"
import { Environment, Health, Metrics, Role } from "#runtime"
import { keeperUser } from "../../../services/fleet/nats-server/configuration.ts"
import { brokerAlone, NatsServer } from "../../../services/fleet/nats-server/NatsServer.ts"
import { busOn } from "../../../dev/fixtures/bus.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import { startNatsServer, type TestNatsServer } from "../../../dev/fixtures/nats-server.ts"
import { emptyHome, type Ran, runHere } from "../../support/command.ts"

/** The topology of the release before accounts, as far as it differs. */
const before: Topology = {
  ...topology,
  streams: topology.streams.map((stream) => {
    const { readyConsumers: _, ...alone } = stream
    return stream.name === "EVENTS"
      ? { ...alone, subjects: ["events.>", "events-cursor"], features: ["atomic batches", "rollup", "direct reads"] }
      : alone
  }),
  buckets: topology.buckets.filter(({ name }) => name !== "relays")
}

const text = new TextEncoder()
const bytesOf = (value: unknown) => text.encode(JSON.stringify(value))

/** A decision of LOG with so many events. */
const decide = (id: string, events: number) =>
  Effect.gen(function* () {
    const record = {
      commandId: id,
      atMs: 1,
      events: Array.from({ length: events }, () => exampleEnvelope("work_item.merged"))
    }
    return yield* (yield* Publisher).publishRaw(subjects.log("workitem", id), bytesOf(record))
  })

const stored = Effect.gen(function* () {
  const reader = yield* StreamReader
  const { lastSequence } = yield* reader.bounds("EVENTS")
  const all = yield* Stream.runCollect(reader.range("EVENTS", { fromSequence: 1, toSequence: lastSequence }))
  return all.filter(({ subject }) => subject !== subjects.eventsCursor)
})

/** Which event of which record, as every release writes it into the id. */
const places = (all: ReadonlyArray<SourceMessage>) =>
  all.flatMap((message) => /^log\.\d+\.\d+/u.exec(message.header(header.messageId) ?? "") ?? [])

/** The server of the release before on this home's store, for `act` alone. */
const onOldServer = <A, E, R>(home: string, act: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = join(home, "nats/data")
      mkdirSync(store, { recursive: true })
      const server = yield* Effect.acquireRelease(
        Effect.promise(() => startNatsServer({ store })),
        (running: TestNatsServer) => Effect.promise(() => running.stop())
      )
      return yield* Effect.provide(act, Layer.fresh(busOn(server, before)))
    })
  )

const asUser = (user: string) =>
  Layer.unwrap(
    Effect.map(NatsServer, ({ url, passwordOf }) =>
      busServices.pipe(
        Layer.provideMerge(
          Nats.layerWith({ servers: [url], name: user, user, password: Redacted.make(passwordOf(user)) })
        ),
        Layer.provideMerge(Metrics.layerTest),
        Layer.provideMerge(Health.layer),
        Layer.provide(Layer.succeed(Role, "operator"))
      )
    )
  ).pipe(Layer.fresh)

/** This release's server on the home, with its topology. */
const onServer = <A, E>(home: string, act: Effect.Effect<A, E, NatsServer>) =>
  Effect.gen(function* () {
    yield* applyTopology(topology, { mode: "create", replicas: 1 }).pipe(Effect.provide(asUser(keeperUser)))
    return yield* act
  }).pipe(Effect.provide(Layer.fresh(brokerAlone(home).pipe(Layer.provide(Layer.succeed(Environment, process.env))))))

/** The relay, as the role runs it, until LOG has become so many events. */
const relayed = (events: number) =>
  Effect.gen(function* () {
    const relay = yield* Effect.forkChild(Effect.flatten(eventRelay(Effect.void)))
    yield* eventually(stored, { is: (all) => places(all).length >= events })
    yield* Fiber.interrupt(relay)
  }).pipe(Effect.scoped, Effect.provide(asUser(userOf("pipeline-api"))))

const { isReady: _, ...madeByReader } = readyConsumer("REPORTS", "pipeline-api")

/** As the release before makes it, with its setting as the limit. */
const consumerBefore: ConsumerDeclaration = { ...madeByReader, unackedMax: 64, ackWaitMs: 30_000 }

const report = (text: string) =>
  Effect.flatMap(Publisher, ({ publishRaw }) => publishRaw("reports.trial", bytesOf({ text })))

const reportCodec = jsonCodec(Schema.Struct({ text: Schema.String }))

/** Takes reports until that one has come, and acknowledges those named so. */
const takeUntil = Effect.fnUntraced(function* (consumer: ConsumerDeclaration, last: string, acked: string) {
  const taken: Array<string> = []
  const consumption = yield* consume({
    consumer,
    inWorkMax: 8,
    codec: reportCodec,
    origin: "reports",
    handler: ({ value: { text: name } }) => Effect.sync(() => (taken.push(name), name === acked ? ack : nak(60_000)))
  })
  yield* eventually(() => taken.includes(last))
  yield* consumption.drain(1_000)
  return taken
}, Effect.scoped)

const limitOf = ({ stream, durable }: ConsumerDeclaration) =>
  Effect.flatMap(Nats, (nats) =>
    nats.use("read the limit", async ({ manager }) => (await manager.consumers.info(stream, durable)).config)
  ).pipe(Effect.map((config) => config.max_ack_pending))

const good = (ran: Ran) => {
  assert.strictEqual(ran.code, 0, ran.error)
  return ran
}

describe("the broker of a home", () => {
  it.live("is upgraded to accounts, rolled back and upgraded again, with each event once", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const run = (line: string) =>
        runHere(line.split(" "), {
          STARLING_HOME: home,
          STARLING_CONFIG: undefined,
          NATS_URL: undefined,
          BUS_URL: undefined
        })

      // Of the first record both events are made, of the second the step is written down and its events are not.
      yield* onOldServer(
        home,
        Effect.gen(function* () {
          const { publishRaw } = yield* Publisher
          const [first, second] = [yield* decide("a", 2), yield* decide("b", 1), yield* decide("c", 1)]
          const event = exampleEnvelope("work_item.merged")
          const idOf = (record: number, index: number) => [[header.messageId, `log.${record}.${index}`] as const]
          for (const index of [0, 1])
            yield* publishRaw("events.work_item.merged", bytesOf(event), { headers: idOf(first.sequence, index) })
          const pending = {
            subject: "events.work_item.merged",
            headers: idOf(second.sequence, 0),
            dataBase64: Buffer.from(bytesOf(event)).toString("base64")
          }
          const cursor = { cursor: { position: second.sequence }, pending: [pending] }
          yield* publishRaw(subjects.eventsCursor, bytesOf(cursor), { headers: [[header.rollup, "sub"]] })
        })
      )

      yield* onServer(
        home,
        Effect.gen(function* () {
          yield* relayed(4)
          const all = yield* Effect.provide(stored, asUser(userOf("pipeline-api")))
          assert.deepStrictEqual(places(all), ["log.1.0", "log.1.1", "log.2.0", "log.3.0"])
          yield* Effect.provide(decide("d", 40), asUser(userOf("pipeline-api")))
          yield* relayed(44)
          const example = bytesOf(exampleEnvelope("sandbox.leak_detected"))
          yield* Effect.flatMap(Publisher, ({ publishRaw }) =>
            publishRaw("events.sandbox.leak_detected", example, { messageId: "leak" })
          ).pipe(Effect.provide(asUser(userOf("internal services"))))
        })
      )

      // Without the command the release before finds no store, and says so instead of beginning with nothing.
      const failed = yield* Effect.flip(Effect.tryPromise(() => startOld(home)))
      assert.include(String(failed.cause), "not so within 2 s\nuntil(isUp")

      good(yield* run("broker before-rollback"))
      assert.isFalse(existsSync(join(home, "nats/data/store/jetstream")))
      yield* onOldServer(
        home,
        Effect.gen(function* () {
          const all = yield* stored
          assert.lengthOf(new Set(places(all)), 44)
          assert.deepStrictEqual(
            all.filter(({ subject }) => subject.startsWith("events.sandbox")).map(({ data }) => data.length > 0),
            [true]
          )
          assert.isTrue(all.every(({ subject }) => storedEventName(subject)?.from === undefined))
          // The release before goes on from here: its own record, and its own cursor after it.
          const cursor = Option.getOrThrow(yield* (yield* StreamReader).last("EVENTS", subjects.eventsCursor))
          assert.deepStrictEqual((JSON.parse(new TextDecoder().decode(cursor.data)) as { cursor: unknown }).cursor, {
            position: 4
          })
          const { sequence } = yield* decide("e", 1)
          const { publishRaw } = yield* Publisher
          yield* publishRaw("events.work_item.merged", bytesOf(exampleEnvelope("work_item.merged")), {
            headers: [[header.messageId, `log.${sequence}.0`]]
          })
          yield* publishRaw(subjects.eventsCursor, bytesOf({ cursor: { position: sequence }, pending: [] }), {
            headers: [[header.rollup, "sub"]]
          })
        })
      )

      yield* onServer(
        home,
        Effect.gen(function* () {
          yield* Effect.provide(decide("f", 1), asUser(userOf("pipeline-api")))
          yield* relayed(46)
          const all = yield* Effect.provide(stored, asUser(userOf("pipeline-api")))
          assert.lengthOf(places(all), 46)
          assert.lengthOf(new Set(places(all)), 46)
        })
      )
    })
  )

  it.live(
    "stores nothing of a service between the command and the end of the broker, and all of it after an upgrade",
    () =>
      Effect.gen(function* () {
        const home = yield* emptyHome
        const leak = Effect.flatMap(Publisher, ({ publishRaw }) =>
          publishRaw("events.sandbox.leak_detected", bytesOf(exampleEnvelope("sandbox.leak_detected")))
        ).pipe(Effect.provide(asUser(userOf("internal services"))))
        const subjectsStored = Effect.map(stored, (all) => all.map(({ subject }) => subject)).pipe(
          Effect.provide(asUser(userOf("pipeline-api")))
        )
        yield* onServer(
          home,
          Effect.gen(function* () {
            const { url, passwordOf } = yield* NatsServer
            const run = (line: string) =>
              runHere(line.split(" "), {
                STARLING_HOME: home,
                STARLING_CONFIG: undefined,
                BUS_USER: keeperUser,
                BUS_PASSWORD: passwordOf(keeperUser)
              })
            yield* leak
            good(yield* run(`broker before-rollback --nats ${url}`))
            yield* Effect.flip(leak)
            assert.deepStrictEqual(yield* subjectsStored, ["events.sandbox.leak_detected"])
            good(yield* run(`broker before-rollback --nats ${url}`))
          })
        )
        yield* onServer(home, leak)
        assert.deepStrictEqual(yield* onServer(home, subjectsStored), [
          "events.sandbox.leak_detected",
          "events-from.internal-services.sandbox.leak_detected"
        ])
      })
  )

  it.live("keeps the place of the consumer of reports, whoever makes it", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      const own = readyConsumer("REPORTS", "pipeline-api")
      yield* onOldServer(
        home,
        Effect.gen(function* () {
          for (const name of ["a", "b", "c"]) yield* report(name)
          assert.deepStrictEqual(yield* takeUntil(consumerBefore, "c", "a"), ["a", "b", "c"])
        })
      )
      yield* onServer(
        home,
        Effect.gen(function* () {
          assert.strictEqual(yield* Effect.provide(limitOf(own), asUser(keeperUser)), reportsInWorkMax)
          const asRole = Effect.provide(asUser(userOf("pipeline-api")))
          // What the release before has in its code: it has to wait for this one.
          const refused = yield* Effect.flip(Effect.flatMap(Consumers, ({ ensure }) => ensure(consumerBefore))).pipe(
            asRole
          )
          assert.strictEqual(refused._tag, "BusRefused")
          yield* Effect.provide(report("d"), asUser(userOf("internal services")))
          assert.deepStrictEqual(yield* asRole(takeUntil(own, "d", "d")), ["d"])
        })
      )
      good(
        yield* runHere(["broker", "before-rollback"], {
          STARLING_HOME: home,
          STARLING_CONFIG: undefined,
          NATS_URL: undefined,
          BUS_URL: undefined
        })
      )
      yield* onOldServer(
        home,
        Effect.gen(function* () {
          yield* report("e")
          assert.deepStrictEqual(yield* takeUntil(consumerBefore, "e", "e"), ["e"])
          assert.strictEqual(yield* limitOf(own), 64)
          const { pending, unacked } = yield* Effect.flatMap(Consumers, ({ backlog }) =>
            backlog(own.stream, own.durable)
          )
          assert.deepStrictEqual({ pending, unacked }, { pending: 0, unacked: 2 })
        })
      )
    })
  )

  it.live("takes up a move of its store where it was broken off", () =>
    Effect.gen(function* () {
      const home = yield* emptyHome
      yield* onOldServer(home, decide("a", 1))
      const data = join(home, "nats/data")
      mkdirSync(join(data, "store"))
      writeFileSync(join(home, "note"), "the folder above it is not touched")

      for (const again of [1, 2]) {
        const count = yield* onServer(
          home,
          Effect.provide(
            Effect.flatMap(StreamReader, (reader) => reader.bounds("LOG")),
            asUser(userOf("pipeline-api"))
          )
        )
        assert.strictEqual(count.messages, 1, `start ${again}`)
      }
    })
  )
})

const startOld = async (home: string) => {
  const server = await startNatsServer({ store: join(home, "nats/data"), giveUpAfterMs: 2_000 })
  await server.stop()
}
