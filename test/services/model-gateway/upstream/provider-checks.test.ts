import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger, Result } from "effect"
import { TestClock } from "effect/testing"
import { Health, Metrics } from "#runtime"
import { fault } from "../../../../services/model-gateway/errors/GatewayFault.ts"
import { ModelRegistry } from "../../../../services/model-gateway/models/ModelRegistry.ts"
import type { StatusClass } from "../../../../services/model-gateway/upstream/provider-faults.ts"
import { AttemptFailed, Providers } from "../../../../services/model-gateway/upstream/Providers.ts"
import { Upstreams } from "../../../../services/model-gateway/upstream/Upstreams.ts"
import { Uptime } from "../../../../services/model-gateway/upstream/Uptime.ts"

const provider = { name: "acme", kind: "openai", baseUrl: "https://acme.example.com/v1" }
const model = { entry: { Id: "demo/echo" }, family: "demo", routes: [{ provider, model: "echo-1", cost: {} }] }

/** One model at one provider, whose calls and whose list of models are answered as told. */
const scene = () => {
  const says: { calls: StatusClass; list: StatusClass } = { calls: "2xx", list: "2xx" }
  const asked = { lists: 0 }
  const lines: Array<string> = []
  const whole = Effect.suspend(() =>
    says.calls === "2xx"
      ? Effect.succeed({})
      : Effect.fail(
          new AttemptFailed({
            fault: fault("PROVIDER_CONFIG_ERROR", {}),
            isWorthAnother: true,
            isProviders: true,
            statusClass: says.calls
          })
        )
  )
  const reach = Effect.sync(() => {
    asked.lists += 1
    return says.list
  })
  const layer = Upstreams.layer.pipe(
    Layer.provide(Layer.succeed(Providers, { whole: () => whole, reach: () => reach } as never)),
    Layer.provide(Layer.succeed(ModelRegistry, { all: [model] } as never)),
    Layer.provide(Layer.succeed(Uptime, { count: () => undefined })),
    Layer.provideMerge(Layer.mergeAll(Health.layer, Metrics.layerTest)),
    Layer.provideMerge(
      Logger.layer([Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))])
    )
  )
  const order = { model, path: "chat", headers: {}, bodyFor: () => Result.succeed({}) }
  const call = Effect.flatMap(Upstreams, ({ whole }) => Effect.exit(whole(order as never)))
  const series = (name: string) =>
    Effect.map(
      Effect.flatMap(Metrics, ({ text }) => text),
      (text) =>
        text
          .split("\n")
          .filter((line) => line.startsWith(`${name}{`) && !line.endsWith(" 0"))
          .map((line) => line.replace(/^[^{]*\{role="fleet",provider="acme",?/u, "").replace(/\}/u, ""))
    )
  const failing = series("gateway_provider_failing")
  const shown = Effect.flatMap(Health, ({ ready }) => Effect.map(ready, ({ checks }) => checks["provider acme"]))
  return { says, asked, lines, layer, call, failing, calls: series("gateway_upstream_calls_total"), shown }
}

describe("a provider", () => {
  it.effect("that no longer takes the key is named with it, by the call and by a line in the log", () => {
    const { says, lines, layer, call, failing, calls, shown } = scene()
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      says.calls = says.list = "401"
      for (let nth = 0; nth < 3; nth++) yield* call
      assert.deepStrictEqual(yield* calls, ['outcome="failed",status_class="401" 3'])
      assert.deepStrictEqual(yield* failing, ['reason="401" 1'])
      yield* TestClock.adjust("20 seconds")
      assert.strictEqual(yield* shown, "401 for echo-1")
      assert.deepStrictEqual(lines, ["Warn a check fails"])

      // Mended, and nobody calls.
      says.calls = says.list = "2xx"
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* failing, yield* shown], [[], "ok"])
      assert.deepStrictEqual(lines, ["Warn a check fails", "Info a check is well again"])
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("that hangs is seen without a call, and is no longer left alone once it is back", () => {
    const { says, layer, call, failing } = scene()
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      says.calls = says.list = "timeout"
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(yield* failing, ['reason="timeout" 1'])
      // Its circuit opens.
      for (let nth = 0; nth < 15; nth++) yield* Effect.andThen(call, TestClock.adjust("1 second"))
      const open = Effect.map(
        Effect.flatMap(Metrics, ({ text }) => text),
        (text) => /gateway_breaker_open\{[^}]*\} (\d)/u.exec(text)?.[1]
      )
      assert.strictEqual(yield* open, "1")

      says.calls = says.list = "2xx"
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([yield* failing, yield* open], [[], "0"])
      assert.strictEqual((yield* call)._tag, "Success")
    }).pipe(Effect.scoped, Effect.provide(layer))
  })

  it.effect("is not asked for its models while calls show that it answers", () => {
    const { asked, layer, call } = scene()
    return Effect.gen(function* () {
      yield* TestClock.adjust("1 second")
      assert.strictEqual(asked.lists, 1)
      for (let nth = 0; nth < 60; nth++) yield* Effect.andThen(call, TestClock.adjust("1 second"))
      assert.strictEqual(asked.lists, 1)
      yield* TestClock.adjust("1 minute")
      assert.isAtLeast(asked.lists, 6)
    }).pipe(Effect.scoped, Effect.provide(layer))
  })
})
