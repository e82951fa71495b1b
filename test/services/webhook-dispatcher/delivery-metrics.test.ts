import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Delivery, endpointIdOf } from "#webhooks/contract"
import { Metrics } from "#runtime"
import { backlog, circuitState, DeliveryMetrics, inFlight } from "../../../services/webhook-dispatcher/metrics.ts"
import type { Attempted } from "../../../services/webhook-dispatcher/delivery-attempt.ts"
import type { EndpointSettings } from "../../../services/webhook-dispatcher/endpoints/settings.ts"
import { AttemptResult, Decision } from "../../../services/webhook-dispatcher/retry-policy.ts"

// Name and id are all that metrics read of an endpoint.
const endpointOf = (name: string) => ({ id: endpointIdOf(name), name }) as EndpointSettings

const seriesOf = (name: string) =>
  Effect.map(
    Effect.flatMap(Metrics, ({ text }) => text),
    (text) => text.split("\n").filter((line) => line.includes(`endpoint="${name}"`))
  )

const testing = DeliveryMetrics.layer.pipe(Layer.provideMerge(Metrics.layerTest))

describe("the metrics of an endpoint that was removed", () => {
  it.effect("lose its gauges at once, and its counts when they have been read for two minutes", () =>
    Effect.gen(function* () {
      const metrics = yield* Metrics
      const deliveries = yield* DeliveryMetrics
      for (const name of ["goes", "stays"]) {
        deliveries.begin(endpointOf(name))
        deliveries.tested(endpointOf(name), "delivered")
        for (const gauge of [backlog, inFlight, circuitState]) metrics.gauge(gauge).set({ endpoint: name }, 1)
      }
      const stays = yield* seriesOf("stays")
      const counts = (yield* seriesOf("goes")).filter((line) => line.includes("_total{"))

      yield* deliveries.end(endpointIdOf("goes"))
      assert.deepStrictEqual(yield* seriesOf("goes"), counts)
      assert.isTrue(counts.some((line) => line.startsWith("webhook_tests_total") && line.endsWith(" 1")))
      yield* TestClock.adjust("110 seconds")
      assert.deepStrictEqual(yield* seriesOf("goes"), counts)
      yield* TestClock.adjust("20 seconds")
      assert.deepStrictEqual(yield* seriesOf("goes"), [])
      assert.deepStrictEqual(yield* seriesOf("stays"), stays)
    }).pipe(Effect.provide(testing))
  )

  it.effect("continue counting when it is made again before that", () =>
    Effect.gen(function* () {
      const deliveries = yield* DeliveryMetrics
      const again = endpointOf("again")
      deliveries.begin(again)
      deliveries.postponed(again, "full")
      yield* deliveries.end(again.id)
      yield* TestClock.adjust("1 minute")
      deliveries.begin(again)
      deliveries.postponed(again, "full")
      yield* TestClock.adjust("10 minutes")
      const series = yield* seriesOf("again")
      assert.include(series, 'webhook_postponed_total{role="fleet",endpoint="again",reason="full"} 2')
      assert.include(series, 'webhook_parked_events{role="fleet",endpoint="again"} 0')
    }).pipe(Effect.provide(testing))
  )
})

describe("the times of a delivery", () => {
  it.effect("are those of a first attempt since its event, and of a retry since it was due; a test has none", () =>
    Effect.gen(function* () {
      const { left } = yield* DeliveryMetrics
      const timed = endpointOf("timed")
      const delivery = { attempt: 1, storedAt: 1_000, dueAt: 4_000 } as Delivery
      const at = (nowMs: number) => ({ nowMs, takenMs: nowMs, isHeld: false })
      left(timed, delivery, at(3_000))
      left(timed, { ...delivery, attempt: 2 }, at(4_500))
      left(timed, { ...delivery, isTest: true }, at(9_000))
      // Another machine's clock is ahead.
      left(timed, delivery, at(500))
      const series = yield* seriesOf("timed")
      const sums = series.filter((line) => /_(?:sum|count)\{/u.test(line)).map((line) => line.replace(/\{.*\}/u, ""))
      assert.sameMembers(sums, [
        "webhook_publish_to_first_byte_seconds_sum 2",
        "webhook_publish_to_first_byte_seconds_count 2",
        "webhook_retry_lateness_seconds_sum 0.5",
        "webhook_retry_lateness_seconds_count 1"
      ])
    }).pipe(Effect.provide(testing))
  )
})

describe("the dispatcher's own part of a delivery's time", () => {
  const own = Effect.map(
    Effect.flatMap(Metrics, ({ text }) => text),
    (text) =>
      text
        .split("\n")
        .filter((line) => /^webhook_dispatch_seconds_(?:sum|count)/u.test(line))
        .map((line) => line.replace(/^.*attempt="(\w+)"\} (.*)$/u, "$1 $2"))
  )
  // Stored at second 10, in hand a quarter of a second later, and a slow connection later it leaves.
  const delivery = { attempt: 1, storedAt: 10_000, dueAt: 20_000 } as Delivery
  const first = { nowMs: 15_000, takenMs: 10_250, isHeld: false }
  const retry = { nowMs: 25_000, takenMs: 20_500, isHeld: false }

  it.effect("ends when it has the delivery in hand: to connect is the receiver's", () =>
    Effect.gen(function* () {
      const { begin, left } = yield* DeliveryMetrics
      const quick = endpointOf("quick")
      begin(quick)
      left(quick, delivery, first)
      left(quick, { ...delivery, attempt: 2 }, retry)
      assert.sameMembers(yield* own, ["first 0.25", "first 1", "retry 0.5", "retry 1"])
    }).pipe(Effect.provide(testing))
  )

  it.effect("begins, of one that an operator sends again, when they did", () =>
    Effect.gen(function* () {
      const { begin, left } = yield* DeliveryMetrics
      const quick = endpointOf("quick")
      begin(quick)
      left(quick, { ...delivery, redriveOf: "4f9b2d" }, retry)
      assert.sameMembers(yield* own, ["first 0.5", "first 1"])
    }).pipe(Effect.provide(testing))
  )

  it.effect.each([
    ["all of its Concurrency was in use", (metrics) => metrics.left(slow, delivery, { ...first, isHeld: true })],
    ["it was paused, behind or had a full backlog", (metrics) => metrics.held(slow, 10_100)],
    ["its breaker was open", (metrics) => metrics.postponed(slow, "circuit_open")],
    ["it was not known here yet", (metrics) => metrics.begin(slow)]
  ] as ReadonlyArray<readonly [string, (metrics: DeliveryMetrics["Service"]) => void]>)(
    "leaves out what waited for its endpoint: %s",
    ([, hold]) =>
      Effect.gen(function* () {
        const metrics = yield* DeliveryMetrics
        yield* TestClock.adjust("11 seconds")
        hold(metrics)
        metrics.left(slow, delivery, first)
        assert.deepStrictEqual(yield* own, [])
        // Due after that.
        metrics.left(slow, { ...delivery, attempt: 2 }, retry)
        assert.sameMembers(yield* own, ["retry 0.5", "retry 1"])
        // Another endpoint's waits are as they were.
        metrics.left(endpointOf("quick"), delivery, first)
        assert.include(yield* own, "first 1")
      }).pipe(Effect.provide(testing))
  )
})

const slow = endpointOf("slow")

describe("the latency of an endpoint", () => {
  it.effect("is one short line: a mean that follows the newest attempts, so a hung receiver shows at once", () =>
    Effect.gen(function* () {
      const { attempted } = yield* DeliveryMetrics
      const took = (durationMs: number) =>
        attempted({
          endpoint: slow,
          delivery: { storedAt: 0 } as Delivery,
          sent: { result: AttemptResult.NotAnswered({ error: "" }), error: undefined, durationMs } as Attempted,
          decision: Decision.Retry({ dueAtMs: 0, delayMs: 0 }),
          nowMs: 0
        })
      const shown = Effect.map(seriesOf("slow"), (lines) =>
        lines.find((line) => line.startsWith("webhook_endpoint_lat"))
      )
      took(100)
      assert.strictEqual(yield* shown, 'webhook_endpoint_latency_seconds{role="fleet",endpoint="slow"} 0.1')
      took(10_000)
      assert.include(yield* shown, " 1.338")
      for (let more = 0; more < 20; more += 1) took(10_000)
      assert.isAbove(Number((yield* shown)?.split(" ").at(-1)), 9)
      for (let more = 0; more < 40; more += 1) took(50)
      assert.isBelow(Number((yield* shown)?.split(" ").at(-1)), 0.1)
    }).pipe(Effect.provide(testing))
  )
})

describe("the attempts at a delivery", () => {
  it.effect(
    "are counted by what came of them; one that has ended also by that, and one that was made by its time",
    () =>
      Effect.gen(function* () {
        const { attempted } = yield* DeliveryMetrics
        const delivery = { storedAt: 1_000 } as Delivery
        const sent = (status: number) =>
          ({
            result: AttemptResult.Answered({ status, retryAfter: undefined }),
            error: undefined,
            durationMs: 250
          }) as Attempted
        const given = (status: number, decision: Decision) => ({
          endpoint: endpointOf("counted"),
          delivery,
          sent: sent(status),
          decision,
          nowMs: 3_000
        })
        attempted(given(500, Decision.Retry({ dueAtMs: 0, delayMs: 0 })))
        attempted(given(302, Decision.GiveUp({ reason: "no attempt is left" })))
        attempted(given(410, Decision.Gone()))
        attempted(given(204, Decision.Delivered()))
        const series = yield* seriesOf("counted")
        const counts = series.filter((line) => !line.includes("_bucket") && !line.endsWith(" 0"))
        const short = counts.map((line) => line.replace(/role="fleet",endpoint="counted",?/u, ""))
        assert.sameMembers(short, [
          "webhook_endpoint_latency_seconds{} 0.25",
          'webhook_attempts_total{status_class="5xx"} 1',
          'webhook_attempts_total{status_class="3xx"} 1',
          'webhook_attempts_total{status_class="4xx"} 1',
          'webhook_attempts_total{status_class="2xx"} 1',
          'webhook_deliveries_total{outcome="abandoned"} 1',
          'webhook_deliveries_total{outcome="gone"} 1',
          'webhook_deliveries_total{outcome="delivered"} 1',
          "webhook_receiver_seconds_sum{} 1",
          "webhook_receiver_seconds_count{} 4",
          "webhook_publish_to_delivered_seconds_sum{} 2",
          "webhook_publish_to_delivered_seconds_count{} 1"
        ])
      }).pipe(Effect.provide(testing))
  )
})
