/** The uptime of models, counted by real gateways on a real broker. */
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Option } from "effect"
import { Kv } from "#bus"
import { lastDay, lastMonth, ModelUptime, modelUptimeKey, type OutcomeCounts } from "#gateway/contract"
import { busOn, withBus } from "../../../../dev/fixtures/bus.ts"
import { eventually } from "../../../../dev/fixtures/eventually.ts"
import type { TestNatsServer } from "../../../../dev/fixtures/nats-server.ts"
import { startLocalUpstream } from "../../../../dev/upstream/LocalUpstream.ts"
import { ask, chat, money, withGateway } from "../../../support/gateway.ts"
import { startRoleProcess } from "../../../support/role-process.ts"
import { chatPath } from "../errors/error-body.ts"

const counts = (answered: number, failed = 0, leftAlone = 0, limited = 0): OutcomeCounts => ({
  answered,
  failed,
  leftAlone,
  limited
})
const none = counts(0)

/** What is stored of a model's calls, all and by provider. */
const storedOf = (model: string) =>
  Effect.gen(function* () {
    const bucket = yield* (yield* Kv).open("model-uptime", ModelUptime)
    const found = yield* bucket.get(modelUptimeKey(model))
    if (Option.isNone(found)) return { calls: none, month: none, providers: {}, writes: 0 }
    const nowMs = yield* Clock.currentTimeMillis
    const { value, revision } = found.value
    return {
      calls: lastDay(value, nowMs).counts,
      month: lastMonth(value, nowMs).counts,
      providers: Object.fromEntries(value.providers.map((each) => [each.provider, lastDay(each, nowMs).counts])),
      writes: revision
    }
  })

const callsOf = (model: string) => Effect.map(storedOf(model), ({ calls }) => calls)
const sumOf = ({ answered, failed, leftAlone, limited }: OutcomeCounts) => answered + failed + leftAlone + limited

/** A gateway as a process of its own, with a free model. */
const gatewayOn = (server: TestNatsServer, upstream: string, UptimeWriteSeconds: number) =>
  startRoleProcess(server, "model-gateway", {
    ModelGateway: {
      Port: 0,
      UptimeWriteSeconds,
      FreeTier: { PerMinute: 300, PerHour: 300 },
      Providers: [{ Name: "plain", BaseUrl: `${upstream}/v1` }],
      Models: [{ Id: "demo/free", Free: true, Upstreams: [{ Provider: "plain", Model: "free-1" }] }]
    }
  })

const askFree = (url: string) =>
  Effect.map(ask({ url }, chatPath, chat("one", { model: "demo/free" })), ({ status, text }) =>
    assert.strictEqual(status, 200, text)
  )

/** Waits until so many calls are stored; more would be as wrong as fewer. */
const storedCalls = (model: string, count: number) =>
  Effect.andThen(eventually(callsOf(model), { is: (calls) => sumOf(calls) >= count }), storedOf(model))

const often = { settings: { UptimeWriteSeconds: 0.2 } }

describe("the uptime of a model", () => {
  it.live("counts by call and by provider how calls ended, and nothing that is the caller's fault", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          const call = (text: string, more = {}) => ask(gateway, chatPath, chat(text, more), money)
          // One answered whole, one as a stream; one failed, one whose stream breaks off; one at our limit.
          yield* call("one two")
          yield* call("one two", { stream: true })
          yield* call("!status 503")
          yield* call("!break 3", { stream: true })
          yield* call("!rate-limit")
          // The caller's: a parameter that the provider rejects, a call without payment, a model that there is not.
          yield* call("!reject temperature")
          yield* ask(gateway, chatPath, chat("one"))
          yield* call("one", { model: "demo/none" })
          // Free, at its second provider, and an image.
          yield* ask(gateway, chatPath, chat("one", { model: "demo/free" }))
          yield* call("one", { model: "demo/twice" })
          const picture = { model: "demo/picture", prompt: "a starling" }
          yield* ask(gateway, "/v1/images/generations", picture, money)

          const echo = yield* storedCalls("demo/echo", 5)
          assert.deepStrictEqual(echo.calls, counts(2, 2, 0, 1))
          assert.deepStrictEqual(echo.month, echo.calls)
          assert.deepStrictEqual(echo.providers, { plain: counts(2, 2, 0, 1) })
          assert.deepStrictEqual((yield* storedCalls("demo/free", 1)).calls, counts(1))
          const twice = yield* storedCalls("demo/twice", 1)
          assert.deepStrictEqual(twice.calls, counts(1))
          assert.deepStrictEqual(twice.providers, { away: counts(0, 1), plain: counts(1) })
          assert.deepStrictEqual((yield* storedCalls("demo/picture", 1)).calls, counts(1))
        }).pipe(Effect.provide(busOn(gateway.server))),
      often
    )
  )

  it.live("falls while its provider is left alone", () =>
    withGateway(
      (gateway) =>
        Effect.gen(function* () {
          let asked = 0
          const isLeftAlone = Effect.gen(function* () {
            asked += 1
            yield* ask(gateway, chatPath, chat("!status 503"), money)
            return (yield* callsOf("demo/echo")).leftAlone > 0
          })
          yield* eventually(isLeftAlone)
          const { calls, providers } = yield* storedCalls("demo/echo", asked)
          assert.strictEqual(calls.failed + calls.leftAlone, asked)
          assert.deepStrictEqual(providers, { plain: calls })
        }).pipe(Effect.provide(busOn(gateway.server))),
      often
    )
  )

  it.live("is written once for many calls, at the end of the process where its turn has not come", () =>
    withBus((server) =>
      Effect.gen(function* () {
        const upstream = yield* startLocalUpstream()
        const gateway = yield* gatewayOn(server, upstream.url, 600)
        yield* Effect.forEach(Array.from({ length: 60 }), () => askFree(gateway.url), { concurrency: 8 })
        assert.deepStrictEqual((yield* storedOf("demo/free")).writes, 0)
        yield* gateway.kill("SIGTERM")
        const { calls, writes } = yield* storedCalls("demo/free", 60)
        assert.deepStrictEqual([calls, writes], [counts(60), 1])
      })
    ).pipe(Effect.scoped)
  )

  it.live("adds up what two gateways count at once, through kills of one of them and of the broker", () =>
    withBus((server) =>
      Effect.gen(function* () {
        const upstream = yield* startLocalUpstream()
        const start = gatewayOn(server, upstream.url, 0.2)
        let [one, two] = [yield* start, yield* start]
        const askBoth = (count: number) =>
          Effect.forEach(
            Array.from({ length: count }, (_, nth) => (nth % 2 === 0 ? one : two)),
            ({ url }) => askFree(url),
            { concurrency: 8 }
          )

        yield* askBoth(40)
        assert.deepStrictEqual((yield* storedCalls("demo/free", 40)).calls, counts(40))

        // What was written outlives its writer, and another goes on from there.
        yield* two.kill("SIGKILL")
        two = yield* start
        yield* askBoth(40)
        assert.deepStrictEqual((yield* storedCalls("demo/free", 80)).calls, counts(80))

        // Nothing is lost nor counted twice by a broker that ends in the midst of writes.
        yield* askBoth(40)
        yield* Effect.promise(() => server.kill9())
        yield* Effect.promise(() => server.start())
        const { calls } = yield* storedCalls("demo/free", 120)
        assert.deepStrictEqual(calls, counts(120))
        yield* one.kill("SIGTERM")
        yield* two.kill("SIGTERM")
        assert.deepStrictEqual(yield* callsOf("demo/free"), counts(120))
      })
    ).pipe(Effect.scoped)
  )
})
