/**
 * The delivery log: one record per attempt, written to ATTEMPTS in batches per endpoint, so that it costs
 * the deliveries themselves nothing. It may lose the last 20 ms in a crash; the deliveries it tells of
 * never depend on it. When it cannot keep up, records are dropped and counted, and nobody waits.
 */
import { Context, Effect, Layer, Queue, Schedule } from "effect"
import { type Attempt, AttemptBatch, subjects } from "#contracts"
import { jsonCodec, Publisher } from "#bus"
import { Metrics } from "#runtime"
import { attemptRecordsDropped } from "./metrics.ts"

const batchRecordsMax = 128
const flushEvery = "20 millis"
// A second of the fastest delivery we reach; about 5 MB.
const queueCapacity = 8_192

const codec = jsonCodec(AttemptBatch)

interface LoggedAttempt {
  readonly endpointId: string
  readonly record: Attempt
}

export class AttemptLog extends Context.Service<
  AttemptLog,
  {
    /** Never waits. */
    readonly add: (endpointId: string, record: Attempt) => void
    /** Writes what is queued. */
    readonly flush: Effect.Effect<void>
  }
>()("starling/webhook-dispatcher/AttemptLog") {
  static readonly layer = Layer.effect(
    AttemptLog,
    Effect.gen(function* () {
      const publisher = yield* Publisher
      const dropped = (yield* Metrics).counter(attemptRecordsDropped)
      const queue = yield* Queue.dropping<LoggedAttempt>(queueCapacity)

      const write = (endpointId: string, records: ReadonlyArray<Attempt>) =>
        publisher
          .publish(subjects.attempts(endpointId), codec, records)
          .pipe(
            Effect.catch((error) =>
              Effect.logWarning("records of the delivery log were lost", error).pipe(
                Effect.andThen(Effect.sync(() => dropped.inc({}, records.length)))
              )
            )
          )
      const flush = Effect.gen(function* () {
        while (Queue.sizeUnsafe(queue) > 0) {
          const taken = yield* Queue.takeBetween(queue, 1, queueCapacity)
          yield* Effect.forEach(batches(taken), ([id, records]) => write(id, records), {
            concurrency: 8,
            discard: true
          })
        }
      })
      yield* Effect.forkScoped(Effect.repeat(flush, Schedule.spaced(flushEvery)))
      yield* Effect.addFinalizer(() => flush)
      return AttemptLog.of({
        flush,
        add: (endpointId, record) => {
          if (!Queue.offerUnsafe(queue, { endpointId, record })) dropped.inc({})
        }
      })
    })
  )
}

const batches = (attempts: ReadonlyArray<LoggedAttempt>) => {
  const byEndpoint = Map.groupBy(attempts, (attempt) => attempt.endpointId)
  return [...byEndpoint].flatMap(([id, logged]) => {
    const records = logged.map((attempt) => attempt.record)
    const count = Math.ceil(records.length / batchRecordsMax)
    return Array.from(
      { length: count },
      (_, index) => [id, records.slice(index * batchRecordsMax, (index + 1) * batchRecordsMax)] as const
    )
  })
}
