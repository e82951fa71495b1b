import { type ConsumerConfig, jetstreamManager } from "@nats-io/jetstream"
import { connect, type ConnectionOptions } from "@nats-io/transport-node"
import { afterEach, assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { deliveryLaneOf, deliveryPartitions, endpointIdOf } from "#webhooks/contract"
import { deliveryStream, exampleEnvelope, subjects } from "#base"
import { serviceUser } from "../../services/fleet/nats-server/configuration.ts"
import { generatedFiles } from "../../deploy/generate/files.ts"
import { passwordVariable, streamKeeper } from "../../deploy/generate/users.ts"
import { natsServer } from "../../dev/fixtures/bus.ts"
import { eventually } from "../../dev/fixtures/eventually.ts"
import { startNatsServer, type TestNatsServer } from "../../dev/fixtures/nats-server.ts"
import { readFanOutCursor } from "#webhooks"
import { passwordOf } from "../support/fleet-broker.ts"
import { startReceiver, type TestReceiver } from "../support/receiver.ts"
import { endRoles, type RunningRole, startRole } from "../support/role.ts"
import { sequencesTo } from "../support/webhooks.ts"
import { busAs } from "../support/bus-as.ts"
import { makeAsNack } from "./nack.ts"

const lanes = 4
const laneNumbers = Array.from({ length: lanes }, (_, lane) => lane)
const names = Array.from({ length: 8 }, (_, index) => `deployed-${index}`)
const path = (name: string) => `/${name}`

afterEach(endRoles)

const generated = (end: string) => {
  const file = generatedFiles(lanes).find((each) => each.path.endsWith(end))
  return file?.content ?? assert.fail(`${end} is not generated`)
}

const onceConnected = async <A>(
  options: ConnectionOptions,
  act: (connection: Awaited<ReturnType<typeof connect>>) => Promise<A>
) => {
  const connection = await connect(options)
  try {
    return await act(connection)
  } finally {
    await connection.close()
  }
}

const as = ({ url }: TestNatsServer, user: string) => ({
  servers: url,
  user,
  pass: passwordOf(user),
  inboxPrefix: `_INBOX_${user}`
})
const asKeeper = ({ url }: TestNatsServer) => ({ servers: url, user: streamKeeper, pass: passwordOf(streamKeeper) })

/** A broker with the users and the streams that `node deploy/generate/main.ts --lanes 4` writes. */
const generatedBroker = Effect.acquireRelease(
  Effect.promise(async () => {
    const accounts = generated("nats/accounts.conf")
    const variables = [...accounts.matchAll(/\$(PASSWORD_\w+)/gu)].map(([, variable = ""]) => variable)
    const users = [...accounts.matchAll(/user: "([^"]+)"/gu)].map(([, user = ""]) => user)
    const environment = Object.fromEntries(users.map((user) => [passwordVariable(user), passwordOf(user)]))
    assert.deepStrictEqual([...new Set(variables)].toSorted(), Object.keys(environment).toSorted())
    const server = await startNatsServer({ configuration: accounts, environment })
    await onceConnected(asKeeper(server), async (connection) => {
      await makeAsNack(await jetstreamManager(connection), generated("nats/streams.yaml"))
    })
    return server
  }),
  (server) => Effect.promise(() => server.stop())
)

interface Dispatching {
  readonly receiver: TestReceiver
  readonly bus: Readonly<Record<string, unknown>>
  readonly laneCount: number
  readonly partitionsAbove: number
}

const startDispatcher = async ({ receiver, bus, laneCount, partitionsAbove }: Dispatching) => {
  const role = await startRole("webhook-dispatcher", {
    configuration: {
      Bus: bus,
      Telemetry: { LogLevel: "Warn" },
      Webhooks: names.map((Name) => ({
        Name,
        Url: receiver.url(path(Name)),
        EventFilter: ["*"],
        InitialBackoffSeconds: 0.3
      })),
      WebhookDelivery: { AllowCidrs: ["127.0.0.0/8"], Lanes: laneCount, PartitionsAbove: partitionsAbove }
    }
  })
  return role
}

const isReady = (role: RunningRole) =>
  eventually(
    Effect.promise(() => role.status("/readyz")),
    { is: (status) => status === 200 }
  )

const event = "sandbox.leak_detected"
const body = JSON.stringify(exampleEnvelope(event))

const publish = (options: ConnectionOptions, count: number) =>
  Effect.promise(() =>
    onceConnected(options, async (connection) => {
      const { sequence } = { sequence: [] as Array<number> }
      for (let index = 0; index < count; index += 1) {
        const answer = await connection.request(subjects.event(event), body, { timeout: 60_000 })
        sequence.push(answer.json<{ readonly seq: number }>().seq)
      }
      return sequence
    })
  )

/** What the broker says of the lanes' streams and their consumers, without what differs from server to server. */
const lanesAsMade = (options: ConnectionOptions) =>
  Effect.promise(() =>
    onceConnected(options, async (connection) => {
      const manager = await jetstreamManager(connection)
      const found: Array<{ readonly stream: unknown; readonly consumers: ReadonlyArray<unknown> }> = []
      for (const lane of laneNumbers) {
        const { config } = await manager.streams.info(deliveryStream(lane))
        const { metadata: _kept, placement: _where, ...stream } = config
        const consumers: Array<Partial<ConsumerConfig>> = []
        for await (const consumer of manager.consumers.list(deliveryStream(lane))) {
          const { metadata: _notes, ...declared } = consumer.config
          consumers.push(declared)
        }
        const name = ({ durable_name: durable }: Partial<ConsumerConfig>) => durable ?? ""
        found.push({ stream, consumers: consumers.toSorted((one, other) => name(one).localeCompare(name(other))) })
      }
      return found
    })
  )

const gotAll = (receiver: TestReceiver, sequences: ReadonlyArray<number>) =>
  Effect.sync(() =>
    names.every((name) => {
      const got = new Set(sequencesTo(receiver, path(name)))
      return sequences.every((sequence) => got.has(sequence))
    })
  )

const isSettledAt = (count: number) =>
  Effect.map(readFanOutCursor(0), (cursor) =>
    Option.exists(cursor, (first) => (first.lanes ?? 1) === count && first.lanesBefore === undefined)
  )

describe("streams and users generated for four lanes", () => {
  for (const [mode, partitionsAbove] of [
    ["a consumer for each endpoint", 200],
    ["consumers that endpoints share", 3]
  ] as const) {
    it.live(`are what dispatchers make and need by themselves, with ${mode}`, () =>
      Effect.gen(function* () {
        const receiver = yield* startReceiver
        receiver.answer(path(names[0] ?? ""), (nth) => (nth % 3 === 1 ? 503 : 204))
        const [open, closed] = [yield* natsServer, yield* generatedBroker]
        const own = yield* Effect.promise(() =>
          startDispatcher({ receiver, bus: { Url: open.url, Topology: "create" }, laneCount: lanes, partitionsAbove })
        )
        yield* isReady(own)
        const made = yield* lanesAsMade({ servers: open.url })
        own.signal("SIGTERM")
        yield* Effect.promise(() => own.ended)

        const user = "webhook-dispatcher"
        const bus = { Url: closed.url, User: user, Password: passwordOf(user), Topology: "verify" }
        const role = yield* Effect.promise(() => startDispatcher({ receiver, bus, laneCount: lanes, partitionsAbove }))
        yield* isReady(role)
        assert.deepStrictEqual(yield* lanesAsMade(asKeeper(closed)), made)
        const wanted = partitionsAbove < names.length ? deliveryPartitions : names.length
        assert.strictEqual(
          made.reduce((sum, { consumers }) => sum + consumers.length, 0),
          wanted
        )

        const sequences = yield* publish(as(closed, serviceUser), 6)
        yield* eventually(gotAll(receiver, sequences))
        assert.strictEqual(new Set(names.map((name) => deliveryLaneOf(endpointIdOf(name), lanes))).size, lanes)
        role.signal("SIGTERM")
        assert.strictEqual(yield* Effect.promise(() => role.ended), 0)
        assert.notMatch(role.error(), /Permissions Violation|forbids/u)
      })
    )
  }

  it.live("let a change from two to four go through, with retries that wait in the old lanes", () =>
    Effect.gen(function* () {
      const receiver = yield* startReceiver
      for (const name of names) receiver.answer(path(name), (nth) => (nth % 4 === 1 ? 503 : 204))
      const server = yield* generatedBroker
      const user = "webhook-dispatcher"
      const bus = { Url: server.url, User: user, Password: passwordOf(user), Topology: "verify" }
      const start = (laneCount: number) =>
        Effect.promise(() => startDispatcher({ receiver, bus, laneCount, partitionsAbove: 200 }))
      const before = yield* start(2)
      yield* isReady(before)
      const sequences = [...(yield* publish(as(server, serviceUser), 20))]
      before.signal("SIGKILL")
      yield* Effect.promise(() => before.ended)
      sequences.push(...(yield* publish(as(server, serviceUser), 20)))
      const after = yield* start(lanes)
      yield* isReady(after)
      sequences.push(...(yield* publish(as(server, serviceUser), 20)))
      yield* eventually(isSettledAt(lanes).pipe(Effect.provide(busAs(() => server, "webhook-dispatcher"))))
      yield* eventually(gotAll(receiver, sequences))
      after.signal("SIGTERM")
      assert.strictEqual(yield* Effect.promise(() => after.ended), 0)
      assert.notMatch(`${before.error()}${after.error()}`, /Permissions Violation|forbids/u)
    })
  )
})
