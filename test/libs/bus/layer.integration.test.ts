import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream"
import { connect, type NatsConnection } from "@nats-io/transport-node"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger } from "effect"
import { bucketConfig, busLayer, streamConfig, topology } from "#bus"
import type { RoleName } from "#base"
import { Configuration } from "#configuration"
import { Environment, Health, lineLogger, Metrics, MetricsRegistry, Role } from "#runtime"
import { streamKeeper } from "../../../deploy/generate/users.ts"
import { passwordOf, startFleetBroker } from "../../support/fleet-broker.ts"
import { later } from "../../support/clock.ts"
import { eventually } from "../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../dev/fixtures/nats-server.ts"

let server: TestNatsServer
let keeper: NatsConnection
let manager: JetStreamManager
beforeAll(async () => {
  server = await startFleetBroker()
  keeper = await connect({ servers: server.url, user: streamKeeper, pass: passwordOf(streamKeeper) })
  manager = await jetstreamManager(keeper)
})
afterAll(async () => {
  await keeper.close()
  await server.stop()
})

/** A role's bus, without the role. */
const busOf = (role: RoleName, password = passwordOf(role)) =>
  busLayer(1).pipe(
    Layer.provide(Metrics.layer),
    Layer.provide(
      Configuration.layerOf({ Bus: { Url: server.url, User: role, Password: password, Topology: "verify" } })
    ),
    Layer.provide(Layer.succeed(Role, role)),
    Layer.fresh
  )

const build = (bus: ReturnType<typeof busOf>) => Effect.forkScoped(Layer.build(bus))

/** The services that the roles of one process share. */
const process = () => Layer.mergeAll(Health.layer, MetricsRegistry.layerEmpty, Layer.succeed(Environment, {}))

const checks = Effect.flatMap(Health, (health) => Effect.map(health.ready, (report) => report.checks))
const checkIs = (name: string, expected: RegExp) =>
  eventually(checks, { is: (found) => expected.test(found[name] ?? "") })

describe("the buses of the roles of one process", () => {
  it.live("each report their own health, whatever the order of their start", () =>
    Effect.gen(function* () {
      yield* (yield* Health).started
      yield* build(busOf("sweeper", "not its password"))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* build(busOf("webhook-dispatcher"))
          yield* checkIs("bus webhook-dispatcher", /^ok$/u)
          yield* checkIs("bus sweeper", /Authorization Violation/u)
        })
      )
      // One that ends takes nothing with it but its own.
      assert.deepStrictEqual(Object.keys(yield* checks), ["bus sweeper"])
      assert.isFalse((yield* (yield* Health).ready).ok)
    }).pipe(Effect.provide(process()))
  )

  it.live("show in the metrics which of them has no broker, even before the first connection", () =>
    Effect.gen(function* () {
      yield* build(busOf("sweeper", "not its password"))
      yield* build(busOf("webhook-dispatcher"))
      yield* checkIs("bus webhook-dispatcher", /^ok$/u)
      yield* checkIs("bus sweeper", /Authorization Violation/u)

      const registry = yield* MetricsRegistry
      const text = yield* Effect.promise(() => registry.metrics())
      assert.include(text, 'bus_connected{role="webhook-dispatcher"} 1')
      assert.include(text, 'bus_connected{role="sweeper"} 0')
    }).pipe(Effect.provide(process()))
  )
})

describe("a bus whose password or credentials are an empty file", () => {
  it.effect.each(["PasswordsFolder", "CredentialsFile"])("is not made, and %s is named", (key) =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "starling-bus-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      writeFileSync(join(folder, "sweeper"), "\n")
      const file = key === "PasswordsFolder" ? folder : join(folder, "sweeper")
      const bus = busLayer(1).pipe(
        Layer.provide(Metrics.layer),
        Layer.provide(Configuration.layerOf({ Bus: { Url: server.url, [key]: file } })),
        Layer.provide(Layer.succeed(Role, "sweeper"))
      )
      const error = yield* Effect.flip(Layer.build(bus))
      assert.match(String(error), new RegExp(`Bus\\.${key}: .*sweeper is empty`, "u"))
    }).pipe(Effect.scoped, Effect.provide(process()))
  )
})

describe("a bus whose streams others own", () => {
  it.live("waits while they differ, names each difference in health and log, and continues when they are right", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const logged = Logger.layer([lineLogger("json", (line) => void lines.push(line))])
      const [declared] = topology.streams.filter(({ name }) => name === "ATTEMPTS").map((one) => streamConfig(one, 1))
      assert.isDefined(declared)
      const update = (changes: object) => Effect.promise(() => manager.streams.update("ATTEMPTS", changes))
      yield* (yield* Health).started
      yield* update({ max_age: 3_600_000_000_000 })
      const built = yield* build(busOf("webhook-dispatcher")).pipe(Effect.provide(logged))
      yield* checkIs("topology webhook-dispatcher", /stream ATTEMPTS: max_age is 3600000000000, declared \d+/u)
      yield* eventually(() => lines.some((line) => line.includes("max_age is 3600000000000")))
      const registry = yield* MetricsRegistry
      const differences = Effect.map(
        Effect.promise(() => registry.metrics()),
        (text) => /^bus_topology_differences\{role="webhook-dispatcher"\} (\d+)$/mu.exec(text)?.[1]
      )
      assert.strictEqual(yield* differences, "1")
      assert.strictEqual((yield* checks)["bus webhook-dispatcher"], "ok")
      assert.isUndefined(built.pollUnsafe())

      yield* update({ max_age: declared.max_age })
      yield* Fiber.join(built)
      assert.strictEqual((yield* checks)["topology webhook-dispatcher"], "ok")
      assert.strictEqual(yield* differences, "0")
    }).pipe(Effect.provide(process()))
  )
})

describe("a role whose clock", () => {
  it.live.each([
    ["is a minute ahead", 60_000, /^this clock is 60 s ahead of the broker's$/u],
    ["is a minute behind", -60_000, /^this clock is 60 s behind the broker's$/u],
    ["is as the broker's", 0, /^ok$/u]
  ] as const)("%s says so, and is ready", ([, byMs, expected]) =>
    Effect.gen(function* () {
      yield* (yield* Health).started
      yield* build(busOf("payment-verifier"))
      yield* checkIs("streams payment-verifier", /^ok$/u)
      yield* checkIs("clock payment-verifier", expected)
      assert.isTrue((yield* (yield* Health).ready).ok)
      const metrics = Effect.flatMap(MetricsRegistry, (registry) => Effect.promise(() => registry.metrics()))
      const shown = Effect.map(metrics, (text) =>
        Number(/^clock_skew_seconds\{role="payment-verifier"\} (.*)$/mu.exec(text)?.[1])
      )
      assert.closeTo(yield* eventually(shown, { is: (seconds) => !Number.isNaN(seconds) }), byMs / 1_000, 2)
    }).pipe(later(byMs), Effect.provide(process()))
  )
})

describe("a connected role", () => {
  it.live("is unready while a bucket that it writes is gone, and ready again once it is back", () =>
    Effect.gen(function* () {
      const [leases] = topology.buckets.filter(({ name }) => name === "leases").map((one) => bucketConfig(one, 1))
      assert.isDefined(leases)
      yield* (yield* Health).started
      yield* build(busOf("webhook-dispatcher"))
      yield* checkIs("streams webhook-dispatcher", /^ok$/u)
      yield* Effect.promise(() => manager.streams.delete(leases.name))
      yield* checkIs(
        "streams webhook-dispatcher",
        /^cannot write KV_leases: .*no stream takes this subject; `up`, .* makes it again/u
      )
      assert.strictEqual((yield* checks)["bus webhook-dispatcher"], "ok")
      const registry = yield* MetricsRegistry
      const unusable = Effect.map(
        Effect.promise(() => registry.metrics()),
        (text) => /^bus_unusable_streams\{(?=.*use="write")(?=.*webhook-dispatcher).*\} (\d+)$/mu.exec(text)?.[1]
      )
      yield* eventually(unusable, { is: (count) => count === "1" })
      yield* Effect.promise(() => manager.streams.add(leases))
      yield* checkIs("streams webhook-dispatcher", /^ok$/u)
      yield* eventually(unusable, { is: (count) => count === "0" })
    }).pipe(Effect.provide(process()))
  )
})
