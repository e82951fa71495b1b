import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Metrics } from "#runtime"
import { parseExposition } from "../../../../libs/console/readings/readings.ts"
import { frameOf } from "../../../../libs/console/readings/frame.ts"
import { computed } from "../../../support/processor-time.ts"
import {
  attempts,
  backlog,
  circuitState,
  deliveries,
  endpointPaused,
  inFlight,
  parkedExpired,
  postponed,
  publishToDeliveredSeconds,
  publishToFirstByteSeconds,
  receiverSeconds,
  retryLateness
} from "../../../../services/webhook-dispatcher/metrics.ts"

const url = "http://127.0.0.1:9400"
const count = 10_000

/** One delivery of each endpoint, in the registry that a dispatcher writes its metrics with. */
const deliveriesToAll = Effect.map(Metrics, (metrics) => {
  const counted = [parkedExpired, deliveries, attempts, postponed].map((one) =>
    metrics.counter(one as typeof parkedExpired)
  )
  const timedBy = [receiverSeconds, publishToFirstByteSeconds, publishToDeliveredSeconds, retryLateness].map(
    metrics.histogram
  )
  const [inFlightNow, backlogNow, circuit, paused] = [inFlight, backlog, circuitState, endpointPaused].map(
    metrics.gauge
  )
  const outcomes = { outcome: "delivered", status_class: "2xx", reason: "full" }
  return Effect.sync(() => {
    for (let index = 0; index < count; index += 1) {
      const endpoint = `endpoint-${String(index).padStart(5, "0")}`
      for (const counter of counted) counter.inc({ endpoint, ...outcomes })
      for (const histogram of timedBy) histogram.observe({ endpoint }, 0.02)
      inFlightNow?.set({ endpoint }, 1)
      backlogNow?.set({ endpoint }, index)
      circuit?.set({ endpoint }, index === 7 ? 2 : 0)
      paused?.set({ endpoint }, index === 8 ? 1 : 0)
    }
  })
})

describe("a frame of ten thousand endpoints", () => {
  it.effect("has the rate and the state of each, and of no other", () =>
    Effect.gen(function* () {
      const { text } = yield* Metrics
      const deliver = yield* deliveriesToAll
      yield* deliver
      const before = { atMs: 0, targets: new Map([[url, parseExposition(yield* text)]]) }
      yield* deliver
      const after = { atMs: 2_000, targets: new Map([[url, parseExposition(yield* text)]]) }
      const { value: frame, processorMs } = computed(() =>
        frameOf({ before, after, targets: [{ url, roles: [] }], readiness: new Map() })
      )
      // Looking through all samples for each endpoint would take minutes.
      assert.isBelow(processorMs, 20_000)

      assert.lengthOf(frame.endpoints, count)
      assert.deepStrictEqual(frame.endpoints[0], {
        endpoint: "endpoint-09999",
        breaker: "closed",
        backlog: 9_999,
        inFlight: 1,
        deliveredPerSecond: 0.5,
        failedPerSecond: 0
      })
      assert.isTrue(frame.endpoints.every(({ deliveredPerSecond }) => deliveredPerSecond === 0.5))
      const stateOf = (index: number) => frame.endpoints.find(({ backlog }) => backlog === index)?.breaker
      assert.deepStrictEqual([stateOf(7), stateOf(8), stateOf(9)], ["open", "paused", "closed"])
      assert.deepStrictEqual(frame.breakersOpen, ["endpoint endpoint-00007"])
      assert.strictEqual(frame.totals["webhooks"]?.["delivered/s"], count / 2)
      // Histograms have five hundred endpoints of their own; the others are counted together.
      const receiver = frame.latencies.find(({ what }) => what === "webhook: receiver")
      assert.strictEqual(receiver?.perSecond, count / 2)
    }).pipe(Effect.provide(Metrics.layerTest))
  )
})
