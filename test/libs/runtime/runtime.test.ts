import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Logger, Option, Redacted, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { Configuration, ConfigurationOrigin, type ConfigurationSource, overlay } from "#configuration"
import {
  defineCounter,
  defineGauge,
  defineHistogram,
  Drain,
  Environment,
  formatTraceparent,
  Health,
  lineLogger,
  makeSecrets,
  Metrics,
  metricsDocument,
  MetricsRegistry,
  parseTraceparent,
  Role,
  secretFromEnv,
  Secrets,
  supervise
} from "#runtime"

const hits = defineCounter({ name: "hits_total", help: "Hits.", labels: ["kind"] })
const level = defineGauge({ name: "level", help: "Level.", labels: [] })
const took = defineHistogram({ name: "took_seconds", help: "Took.", labels: [], buckets: [1, 2] })

describe("metrics", () => {
  it.effect("carry the role that counts them, several roles in one registry", () =>
    Effect.gen(function* () {
      const as = (role: string) =>
        Effect.gen(function* () {
          const metrics = yield* Metrics
          metrics.counter(hits).inc({ kind: "a" })
          metrics.gauge(level).set({}, 3)
          metrics.histogram(took).observe({}, 1.5)
          return yield* metrics.text
        }).pipe(Effect.provide(Layer.fresh(Metrics.layer)), Effect.provideService(Role, role))
      yield* as("one")
      const text = yield* as("two")
      assert.include(text, 'hits_total{role="one",kind="a"} 1')
      assert.include(text, 'hits_total{role="two",kind="a"} 1')
      assert.include(text, 'took_seconds_bucket{le="2",role="two"} 1')
    }).pipe(Effect.provide(MetricsRegistry.layerEmpty))
  )

  it.effect("begin at 0 for every value that the code knows, and for an endpoint when it is learned", () =>
    Effect.gen(function* () {
      const ended = defineCounter({
        name: "ended_total",
        help: "Ended.",
        labels: ["endpoint", "outcome"],
        values: { outcome: ["well", "badly"] }
      })
      const done = defineCounter({ name: "done_total", help: "Done.", labels: ["how"], values: { how: ["a", "b"] } })
      const lost = defineCounter({ name: "lost_total", help: "Lost.", labels: [] })
      const metrics = yield* Metrics
      const counter = metrics.counter(ended)
      metrics.counter(done)
      metrics.counter(lost)
      assert.notInclude(yield* metrics.text, "ended_total{")

      counter.inc({ endpoint: "ci", outcome: "badly" })
      counter.begin({ endpoint: "ci" })
      const text = yield* metrics.text
      for (const series of ['endpoint="ci",outcome="badly"} 1', 'endpoint="ci",outcome="well"} 0']) {
        assert.include(text, `ended_total{role="fleet",${series}`)
      }
      for (const how of ["a", "b"]) assert.include(text, `done_total{role="fleet",how="${how}"} 0`)
      assert.include(text, 'lost_total{role="fleet"} 0')
    }).pipe(Effect.provide(Metrics.layerTest))
  )

  it.effect("begin for no more endpoints than a scrape can bear, and count the others from their first event", () =>
    Effect.gen(function* () {
      const made = defineCounter({ name: "made_total", help: "Made.", labels: ["endpoint"] })
      const metrics = yield* Metrics
      const counter = metrics.counter(made)
      for (let index = 0; index < 6_000; index++) counter.begin({ endpoint: `e${index}` })
      counter.inc({ endpoint: "e5999" })
      const series = (yield* metrics.text).split("\n").filter((line) => line.startsWith("made_total{"))
      assert.strictEqual(series.length, 5_001)
      assert.include(series, 'made_total{role="fleet",endpoint="e5999"} 1')
    }).pipe(Effect.provide(Metrics.layerTest))
  )

  it.effect("end with what they are about, whichever handle made them, and begin again with a later value", () =>
    Effect.gen(function* () {
      const ended = defineCounter({
        name: "ended_total",
        help: "Ended.",
        labels: ["endpoint", "outcome"],
        values: { outcome: ["well", "badly"] }
      })
      const depth = defineGauge({ name: "depth", help: "Depth.", labels: ["endpoint"] })
      const waited = defineHistogram({ name: "waited", help: "Waited.", labels: ["endpoint"], buckets: [1] })
      const metrics = yield* Metrics
      for (const endpoint of ["ci", "stays"]) {
        metrics.counter(ended).begin({ endpoint })
        metrics.counter(ended).inc({ endpoint, outcome: "well" }, 7)
        metrics.gauge(depth).set({ endpoint }, 3)
        metrics.histogram(waited).observe({ endpoint }, 0.5)
      }
      const of = (endpoint: string, text: string) =>
        text.split("\n").filter((line) => line.includes(`endpoint="${endpoint}"`))
      const stays = of("stays", yield* metrics.text)
      assert.lengthOf(stays, 7)

      metrics.counter(ended).end({ endpoint: "ci" })
      metrics.gauge(depth).end({ endpoint: "ci" })
      metrics.histogram(waited).end({ endpoint: "ci" })
      metrics.gauge(depth).end({ endpoint: "never began" })
      assert.deepStrictEqual(of("ci", yield* metrics.text), [])
      assert.deepStrictEqual(of("stays", yield* metrics.text), stays)

      metrics.counter(ended).inc({ endpoint: "ci", outcome: "well" })
      metrics.gauge(depth).set({ endpoint: "ci" }, 1)
      assert.deepStrictEqual(of("ci", yield* metrics.text), [
        'ended_total{role="fleet",endpoint="ci",outcome="well"} 1',
        'depth{role="fleet",endpoint="ci"} 1'
      ])
    }).pipe(Effect.provide(Metrics.layerTest))
  )

  it.effect("leave their room to others when they end", () =>
    Effect.gen(function* () {
      const waited = defineHistogram({ name: "waited", help: "Waited.", labels: ["endpoint"], buckets: [1] })
      const histogram = (yield* Metrics).histogram(waited)
      for (let index = 0; index < 1_000; index++) {
        histogram.observe({ endpoint: `e${index}` }, 0.5)
        histogram.end({ endpoint: `e${index}` })
      }
      histogram.observe({ endpoint: "last" }, 0.5)
      const text = yield* (yield* Metrics).text
      assert.include(text, 'waited_count{role="fleet",endpoint="last"} 1')
      assert.notInclude(text, 'endpoint="other"')
    }).pipe(Effect.provide(Metrics.layerTest))
  )

  it("are documented from their definitions", () => {
    const page = metricsDocument([{ title: "Room", metrics: [hits, took] }])
    assert.include(page, "| `hits_total` | counter | `kind` | Hits. |")
    assert.include(page, "Buckets: 1, 2.")
  })
})

describe("health", () => {
  const health = Health.layer

  it.effect("shows a remark beside the checks and stays ready, and a check of the same name replaces the remark", () =>
    Effect.gen(function* () {
      const service = yield* Health
      yield* service.started
      yield* service.remark("token", Effect.succeed("another one"))
      yield* service.remark("clock", Effect.undefined)
      assert.deepStrictEqual(yield* service.ready, { ok: true, checks: { token: "another one", clock: "ok" } })
      yield* service.readiness("token", Effect.fail("not ours"))
      assert.deepStrictEqual(yield* service.ready, { ok: false, checks: { token: "not ours", clock: "ok" } })
    }).pipe(Effect.scoped, Effect.provide(health))
  )

  it.effect("is dead when a loop has stalled, and names it", () =>
    Effect.gen(function* () {
      const service = yield* Health
      const loop = yield* service.loop("relay", { stallMs: 1_000 })
      yield* TestClock.adjust("900 millis")
      assert.isTrue((yield* service.live).ok)
      yield* TestClock.adjust("200 millis")
      assert.deepStrictEqual(yield* service.live, { ok: false, checks: { relay: "no progress for 1100 ms" } })
      loop.beat()
      assert.isTrue((yield* service.live).ok)
    }).pipe(Effect.provide(health))
  )

  it.effect("is not ready before the start, nor while a check fails with its reason", () =>
    Effect.gen(function* () {
      const service = yield* Health
      assert.deepStrictEqual((yield* service.ready).checks, { start: "starting" })
      yield* service.started
      assert.isTrue((yield* service.ready).ok)
      yield* service.readiness("bus", Effect.fail("not connected"))
      assert.deepStrictEqual(yield* service.ready, { ok: false, checks: { bus: "not connected" } })
    }).pipe(Effect.provide(health))
  )

  it.effect("includes every check and loop of one name, until each ends", () =>
    Effect.gen(function* () {
      const service = yield* Health
      yield* service.started
      yield* service.readiness("bus", Effect.fail("not connected"))
      const slow = yield* service.loop("relay", { stallMs: 1_000 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* service.readiness("bus", Effect.void)
          const quick = yield* service.loop("relay", { stallMs: 5_000 })
          yield* TestClock.adjust("2 seconds")
          quick.beat()
          assert.deepStrictEqual(yield* service.ready, { ok: false, checks: { bus: "not connected" } })
          assert.deepStrictEqual(yield* service.live, { ok: false, checks: { relay: "no progress for 2000 ms" } })
        })
      )
      assert.deepStrictEqual(yield* service.ready, { ok: false, checks: { bus: "not connected" } })
      slow.beat()
      assert.deepStrictEqual(yield* service.live, { ok: true, checks: { relay: "ok" } })
    }).pipe(Effect.provide(health))
  )
})

describe("a drain", () => {
  const drain = Drain.layer.pipe(Layer.provideMerge(Health.layer), Layer.provideMerge(Metrics.layerTest))

  it.effect("runs everything at once, makes the process unready, and counts the work it met", () =>
    Effect.gen(function* () {
      const service = yield* Drain
      yield* service.register("a", Effect.as(Effect.sleep("2 seconds"), { finished: 3, handedBack: 1 }))
      yield* service.register("b", Effect.as(Effect.sleep("2 seconds"), { finished: 2, handedBack: 0 }))
      const running = yield* Effect.forkChild(service.run)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* (yield* Health).ready).checks["drain"], "draining")
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* Fiber.join(running))
      const text = yield* (yield* Metrics).text
      assert.include(text, 'drain_work_total{role="fleet",outcome="finished"} 5')
      assert.include(text, 'drain_work_total{role="fleet",outcome="handed_back"} 1')
    }).pipe(Effect.provide(drain))
  )

  it.effect("ends after 30 s despite hanging work, and says so", () =>
    Effect.gen(function* () {
      const service = yield* Drain
      yield* service.register("stuck", Effect.never)
      const running = yield* Effect.forkChild(service.run)
      yield* TestClock.adjust("31 seconds")
      assert.isFalse(yield* Fiber.join(running))
    }).pipe(Effect.provide(drain))
  )
})

describe("secrets", () => {
  it.effect("must exist in their named variables, and never show in a log line", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const secrets = makeSecrets()
      const logging = Layer.mergeAll(
        Logger.layer([lineLogger("json", (line) => void lines.push(line))]),
        Layer.succeed(Secrets, secrets),
        Layer.succeed(Environment, { KEY: "hunter2-hunter2\n", EMPTY: "", BLANK: " \n" })
      )
      yield* Effect.gen(function* () {
        const key = yield* secretFromEnv({ variable: "KEY", path: "Webhooks[0].SecretEnvVar", kind: "signature" })
        yield* Effect.logError("leak", { key }, new Error(`bad ${key.trim()}`)).pipe(
          Effect.annotateLogs({ key: key.trim() })
        )
        yield* Effect.logInfo("redacted", Redacted.make(key))
        for (const variable of ["EMPTY", "BLANK", "ABSENT"]) {
          const fault = yield* Effect.flip(
            secretFromEnv({ variable, path: "Webhooks[0].SecretEnvVar", kind: "signature" })
          )
          assert.include(fault.message, variable)
        }
      }).pipe(Effect.provide(logging))
      assert.strictEqual(lines.length, 2)
      for (const line of lines) {
        assert.notInclude(line, "hunter2")
        assert.doesNotThrow(() => JSON.parse(line))
      }
      assert.deepInclude(JSON.parse(lines[0] ?? "{}"), { level: "ERROR", role: "fleet" })
    })
  )
})

describe("the trace header", () => {
  it("is read and written in W3C format, and a malformed one is ignored", () => {
    const header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    const span = Option.getOrThrow(parseTraceparent(header))
    assert.strictEqual(formatTraceparent(span), header)
    assert.isTrue(Option.isSome(parseTraceparent(`cc${header.slice(2)}-more`)))
    const bad = [
      undefined,
      "",
      "00-x-y-01",
      header.slice(0, -1),
      `ff${header.slice(2)}`,
      `00-${"0".repeat(32)}-00f067aa0ba902b7-01`
    ]
    for (const malformed of bad) assert.isTrue(Option.isNone(parseTraceparent(malformed)), malformed)
    const unsampled = Tracer.externalSpan({ traceId: "a".repeat(32), spanId: "b".repeat(16), sampled: false })
    assert.isTrue(formatTraceparent(unsampled).endsWith("-00"))
  })
})

describe("the environment", () => {
  it("overrides the file, key by key", () => {
    const file = { Bus: { Url: "nats://file:1", Replicas: 3 }, Webhooks: [] }
    assert.deepStrictEqual(overlay(file, { BUS_URL: "nats://env:2", TELEMETRY_PORT: "0", OTHER: "x", BUS_USER: "" }), {
      Bus: { Url: "nats://env:2", Replicas: 3 },
      Webhooks: [],
      Telemetry: { Port: 0 }
    })
  })
})

describe("a configuration", () => {
  const folder = mkdtempSync(join(tmpdir(), "starling-configuration-"))
  const path = join(folder, "starling.config.json")
  afterAll(() => rmSync(folder, { recursive: true }))

  const origin = (source: Partial<ConfigurationSource>, environment: Readonly<Record<string, string>> = {}) =>
    Effect.all([ConfigurationOrigin, Configuration]).pipe(
      Effect.provide(Configuration.layer({ path, isRequired: false, ...source })),
      Effect.provideService(Environment, environment)
    )

  it.effect("says which file it is from, and which layer gives each key", () =>
    Effect.gen(function* () {
      writeFileSync(path, JSON.stringify({ Telemetry: { Port: 9_500 }, Console: { Port: 7 } }))
      const launcher = { Telemetry: { Port: 1, Host: "0.0.0.0" } }
      const [{ file, sources }, { Telemetry, Console }] = yield* origin({ defaults: launcher }, { CONSOLE_PORT: "8" })

      assert.strictEqual(file, path)
      assert.deepStrictEqual([Telemetry.Port, Telemetry.Host, Console.Port], [9_500, "0.0.0.0", 8])
      const keys = ["Telemetry.Port", "Telemetry.Host", "Console.Port", "Console.Host"]
      assert.deepStrictEqual(
        keys.map((key) => sources.get(key)),
        ["file", "launcher", "environment", undefined]
      )
    })
  )

  it.effect("that gives a key twice is refused, with every such key beside every other fault", () =>
    Effect.gen(function* () {
      const file = `{
        "Console": { "Port": 7, "Port": 8 },
        "Bus": { "Replicas": "three" },
        "Webhooks": [
          { "Name": "a", "Url": "https://a.example/", "Headers": { "X-Key": "1", "X-Key": "2" } },
          { "Name": "b", "Url": "https://b.example/", "Url": "https://c.example/" }
        ],
        "Bus": {}
      }`
      writeFileSync(path, file)
      const variables = { PAYMENTS_NETWORKS: '[{"Network":"eip155:1","Network":"eip155:2"}]' }
      const { faults } = yield* Effect.flip(origin({}, variables))
      const said = faults.filter(({ message }) => message === "is given more than once").map((fault) => fault.path)
      assert.sameMembers(said, [
        "Console.Port",
        "Webhooks[0].Headers.X-Key",
        "Webhooks[1].Url",
        "Bus",
        "PAYMENTS_NETWORKS[0].Network"
      ])
      assert.isAbove(faults.length, said.length, "the other faults are named too")
    })
  )

  it.effect("is read without a byte order mark, and no further one", () =>
    Effect.gen(function* () {
      writeFileSync(path, `\ufeff${JSON.stringify({ Console: { Port: 7 } })}`)
      const [, { Console }] = yield* origin({})
      assert.strictEqual(Console.Port, 7)
      writeFileSync(path, "\ufeff\ufeff{}")
      assert.include(String(yield* Effect.flip(origin({}))), "is not JSON")
    })
  )

  it.effect(
    "starts with keys that this release no longer has, and warns of each, in the file and the environment",
    () =>
      Effect.gen(function* () {
        const lines: Array<string> = []
        writeFileSync(path, JSON.stringify({ Payments: { ExposureMax: 1, AheadMax: 2, UnpaidNewcomerUsd: 0.5 } }))
        const [, { Payments }] = yield* origin({}, { PAYMENTS_AHEAD_MAX: "3" }).pipe(
          Effect.provide(Logger.layer([lineLogger("json", (line) => void lines.push(line))]))
        )
        assert.strictEqual(Payments.UnpaidNewcomerUsd, 0.5)
        assert.notProperty(Payments, "ExposureMax")
        for (const name of ["Payments.ExposureMax", "Payments.AheadMax", "PAYMENTS_AHEAD_MAX"]) {
          assert.lengthOf(
            lines.filter((line) => line.includes(`${name} no longer has an effect`)),
            1,
            name
          )
        }
        assert.lengthOf(lines, 3)
      })
  )

  it.effect("without a file is what its launcher chose", () =>
    Effect.gen(function* () {
      const [{ file, sources }] = yield* origin({
        path: join(folder, "none.json"),
        whenMissing: { Telemetry: { Port: 9_600 } }
      })
      assert.isNull(file)
      assert.strictEqual(sources.get("Telemetry.Port"), "launcher")
    })
  )
})

describe("a supervised loop", () => {
  it.effect("restarts when it fails and when it dies", () =>
    Effect.gen(function* () {
      let starts = 0
      const loop = Effect.suspend((): Effect.Effect<never, string> => {
        starts += 1
        if (starts === 1) return Effect.fail("broken")
        return starts === 2 ? Effect.die(new Error("a bug")) : Effect.never
      })
      yield* Effect.forkChild(supervise("trial", loop))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(starts, 3)
    })
  )
})
