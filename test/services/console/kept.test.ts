import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { BusUnavailable, StreamReader } from "#bus"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import { WebhookEndpoints } from "#webhooks"
import { endpointIdOf } from "#webhooks/contract"
import { StreamsSeen } from "../../../services/console/http/fleet.ts"
import { byLastToken, keptFigures } from "../../../services/console/kept.ts"

interface Broker {
  isAway: boolean
  abandoned: Readonly<Record<string, number>>
  rejected: Readonly<Record<string, number>>
  streams: ReadonlyArray<{
    readonly name: string
    readonly trouble: string | null
    readonly replicasBehind: ReadonlyArray<string>
  }>
}

/** The figures that a console shows of that broker, and after each change of it. */
const shownOver = (broker: Broker) => {
  const countBySubject = Effect.fnUntraced(function* (stream: string) {
    if (broker.isAway) return yield* new BusUnavailable({ operation: "count", detail: "no answer" })
    return stream === "ABANDONED" ? broker.abandoned : broker.rejected
  })
  const all = Effect.sync(() =>
    broker.streams.map(({ name, trouble, replicasBehind }) => ({
      name,
      trouble,
      state: { replicasBehind, firstAt: "2026-01-01T00:00:00Z" }
    }))
  )
  const endpoints = [
    { id: endpointIdOf("shop"), name: "shop", faults: [] },
    { id: endpointIdOf("old"), name: "old", faults: [{ path: "/Url", message: "is no URL" }] }
  ]
  return keptFigures.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(StreamReader, { countBySubject } as never),
        Layer.succeed(StreamsSeen, { all } as never),
        Layer.succeed(WebhookEndpoints, { list: Effect.succeed(endpoints) } as never),
        Configuration.layerOf({})
      )
    ),
    Layer.provideMerge(Metrics.layerTest)
  )
}

const figures = Effect.gen(function* () {
  yield* TestClock.adjust("11 seconds")
  const { text } = yield* Metrics
  return (yield* text)
    .split("\n")
    .filter((line) => /^(?:webhook_|bus_|payment_)/u.test(line))
    .map((line) => line.replace(/role="[^"]*",?/u, ""))
    .toSorted()
})

describe("what lies in the broker", () => {
  it.effect("is shown until somebody has acted on it, and stays as it was while the broker is away", () => {
    const broker: Broker = {
      isAway: false,
      abandoned: { [`abandoned.${endpointIdOf("shop")}`]: 3 },
      rejected: { "rejected.events": 2 },
      streams: [
        { name: "SETTLEMENTS", trouble: null, replicasBehind: [] },
        { name: "AUDIT", trouble: "lost", replicasBehind: ["n2", "n3"] }
      ]
    }
    return Effect.gen(function* () {
      const all = [
        'bus_rejected_messages{origin="events"} 2',
        'bus_stream_copies_behind{stream="AUDIT"} 2',
        'bus_stream_lost{stream="AUDIT"} 1',
        "payment_settlement_waiting_since_seconds{} 1767225600",
        'webhook_abandoned_deliveries{endpoint="shop"} 3',
        'webhook_endpoint_unusable{endpoint="old"} 1'
      ]
      assert.deepStrictEqual(yield* figures, all)

      broker.isAway = true
      broker.abandoned = {}
      assert.deepStrictEqual(yield* figures, all)

      Object.assign(broker, { isAway: false, rejected: {}, streams: [] })
      assert.deepStrictEqual(yield* figures, [
        "payment_settlement_waiting_since_seconds{} 0",
        'webhook_endpoint_unusable{endpoint="old"} 1'
      ])
    }).pipe(Effect.provide(shownOver(broker)))
  })

  it("is added up by what it is called, and by its id where the name is gone", () => {
    const names = new Map([
      ["a", "shop"],
      ["b", "shop"]
    ])
    const counts = { "abandoned.a": 1, "abandoned.b": 2, "abandoned.c": 4 }
    assert.deepStrictEqual(
      [...byLastToken(counts, (id) => names.get(id) ?? id)],
      [
        ["shop", 3],
        ["c", 4]
      ]
    )
  })
})
