/**
 * Runs the delivering half of the role: starts the workers, removes consumers that no configured endpoint
 * needs, follows pauses and breakers, shows what is in work, and drains.
 */
import { Clock, Effect, Layer, Schedule, Stream } from "effect"
import { Consumers } from "#bus"
import { Configuration, Drain, Health, Metrics } from "#runtime"
import { AttemptLog } from "./AttemptLog.ts"
import { endpointConsumer, partitionConsumer } from "./consumers.ts"
import { type EndpointSettings, partitions } from "./endpoint-settings.ts"
import { Endpoints } from "./Endpoints.ts"
import { EndpointStates } from "./EndpointStates.ts"
import { endpointWorkers } from "./EndpointWorkers.ts"
import { circuitState, endpointPaused, inFlight } from "./metrics.ts"
import { partitionWorkers } from "./PartitionWorkers.ts"
import type { Workers } from "./Workers.ts"

// The role has 30 s to drain; what still runs after 25 s is handed back and flushed in the rest.
const drainPatienceMs = 25_000
const beatEvery = "1 second"
const stallMs = 15_000

const phaseNumbers = { closed: 0, "half-open": 1, open: 2 } as const

export const Dispatcher = {
  layer: Layer.effectDiscard(
    Effect.gen(function* () {
      const { all } = yield* Endpoints
      const { WebhookDelivery } = yield* Configuration
      const inPartitions = all.length > WebhookDelivery.PartitionsAbove
      yield* removeStrangers(all, inPartitions)
      if (all.length === 0) return
      const workers = yield* inPartitions ? partitionWorkers(all) : endpointWorkers(all)
      const states = yield* EndpointStates
      yield* states.changes.pipe(
        Stream.runForEach((id) =>
          workers
            .follow(id)
            .pipe(Effect.catch((error) => Effect.logWarning("an endpoint's state is not applied", error)))
        ),
        Effect.forkScoped
      )
      yield* showWork(workers)
      yield* registerDrain(workers)
    })
  )
}

const removeStrangers = Effect.fnUntraced(function* (all: ReadonlyArray<EndpointSettings>, inPartitions: boolean) {
  const consumers = yield* Consumers
  const declared = inPartitions
    ? Array.from({ length: partitions }, (_, partition) => partitionConsumer(partition))
    : all.map(endpointConsumer)
  const wanted = new Set(declared.map((consumer) => consumer.durable))
  const present = yield* consumers.names("DELIVERIES")
  const strangers = present.filter((name) => !wanted.has(name))
  yield* Effect.forEach(strangers, (name) => consumers.remove("DELIVERIES", name), { concurrency: 8, discard: true })
})

const showWork = Effect.fnUntraced(function* (workers: Workers) {
  const metrics = yield* Metrics
  const states = yield* EndpointStates
  const inFlightGauge = metrics.gauge(inFlight)
  const circuitGauge = metrics.gauge(circuitState)
  const pausedGauge = metrics.gauge(endpointPaused)
  const loop = yield* (yield* Health).loop("dispatcher", { stallMs })
  const show = Effect.gen(function* () {
    const nowMs = yield* Clock.currentTimeMillis
    loop.beat()
    for (const { settings, breaker, inWork } of workers.desks) {
      const labels = { endpoint: settings.name }
      inFlightGauge.set(labels, inWork())
      circuitGauge.set(labels, phaseNumbers[breaker.phaseAt(nowMs)])
      pausedGauge.set(labels, states.isPaused(settings.id) ? 1 : 0)
    }
  })
  yield* Effect.forkScoped(Effect.repeat(show, Schedule.spaced(beatEvery)))
})

const registerDrain = Effect.fnUntraced(function* (workers: Workers) {
  const drain = yield* Drain
  const log = yield* AttemptLog
  yield* drain.register(
    "webhook-dispatcher",
    Effect.gen(function* () {
      const reports = yield* Effect.forEach(workers.consumptions, (consumption) => consumption.drain(drainPatienceMs), {
        concurrency: "unbounded"
      })
      yield* log.flush
      return {
        finished: reports.reduce((sum, report) => sum + report.finished, 0),
        handedBack: reports.reduce((sum, report) => sum + report.handedBack, 0)
      }
    })
  )
})
