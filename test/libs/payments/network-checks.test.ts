import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Health, Metrics } from "#runtime"
import { networkChecks } from "#payments"

describe("the networks of a verifier", () => {
  it.effect("show within ten seconds that a chain's nodes or a facilitator do not answer, and stay ready", () => {
    let nodes: Effect.Effect<void, string> = Effect.void
    let facilitator: Effect.Effect<void, string> = Effect.void
    const own = { entry: { Network: "eip155:8453" }, chain: { reach: Effect.suspend(() => nodes) } }
    const remote = {
      entry: { Network: "eip155:1" },
      chain: { reach: Effect.void },
      facilitator: { reach: Effect.suspend(() => facilitator) }
    }
    return Effect.gen(function* () {
      yield* networkChecks([own, remote] as never)
      const { ready, started } = yield* Health
      yield* started
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(yield* ready, {
        ok: true,
        checks: { "chain eip155:8453": "ok", "chain eip155:1": "ok", "facilitator eip155:1": "ok" }
      })

      nodes = Effect.fail("no node answers, of 2")
      facilitator = Effect.never
      // A check waits ten seconds for an answer.
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* ready, {
        ok: true,
        checks: {
          "chain eip155:8453": "no node answers, of 2",
          "chain eip155:1": "ok",
          "facilitator eip155:1": "no end within 10000 ms"
        }
      })
    }).pipe(Effect.scoped, Effect.provide(Layer.mergeAll(Health.layer, Metrics.layerTest)))
  })
})
