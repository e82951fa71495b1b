/**
 * The delivery log: one record per attempt, written to ATTEMPTS in batches per endpoint, so that it costs the
 * deliveries themselves nothing. A crash may lose its last 20 ms; deliveries never depend on it. When it cannot keep
 * up, records are dropped and counted, and no delivery waits.
 */
import { Context, Effect, Layer, Queue, Schedule } from "effect"
import { jsonCodec, Publisher } from "#bus"
import { type Attempt, AttemptBatch, type Delivery, isoTime, subjects } from "#contracts"
import { Metrics } from "#runtime"
import { attemptRecordsDropped } from "./metrics.ts"
import { type AttemptResult, type Decision, describe, isSuccess } from "./retry-policy.ts"

const batchRecordsMax = 128
const flushEvery = "20 millis"
// One second of the fastest delivery measured; about 5 MB.
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

// How much of the receiver's answer is kept: enough for an error message.
const responseCharactersMax = 1_024

const utf8 = new TextDecoder("utf-8", { fatal: false })

/** The record of one attempt. Pure. */
export const attemptRecord = (
  delivery: Delivery,
  endpointName: string,
  attempt: {
    readonly startedAtMs: number
    readonly durationMs: number
    readonly result: AttemptResult
    readonly body: Uint8Array
    readonly decision: Decision
    /** Removes the shared secret, which a failing receiver may repeat. */
    readonly redact: (text: string) => string
  }
): Attempt => ({
  deliveryId: delivery.deliveryId,
  endpoint: endpointName,
  event: delivery.event,
  sequence: delivery.sequence,
  attempt: delivery.attempt,
  startedAt: isoTime(attempt.startedAtMs),
  durationMs: Math.round(attempt.durationMs),
  outcome: outcomeOf(attempt.decision, attempt.result),
  status: attempt.result._tag === "Answered" ? attempt.result.status : null,
  error: attempt.result._tag === "NotAnswered" ? describe(attempt.result) : null,
  responseBody: isQuiet(attempt.result)
    ? ""
    : attempt.redact(utf8.decode(attempt.body)).slice(0, responseCharactersMax),
  nextAttemptAt: attempt.decision._tag === "Retry" ? isoTime(attempt.decision.dueAtMs) : null
})

// The body of a success is not kept: thousands a second would only say "ok".
const isQuiet = (result: AttemptResult) => result._tag === "Answered" && isSuccess(result.status)

const outcomeOf = (decision: Decision, result: AttemptResult): Attempt["outcome"] => {
  if (decision._tag === "Delivered") return "delivered"
  if (decision._tag === "Gone") return "gone"
  return result._tag === "NotAnswered" && result.error.startsWith("AddressRefused") ? "refused" : "failed"
}
