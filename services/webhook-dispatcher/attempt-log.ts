/**
 * The delivery log: one record per attempt, written to ATTEMPTS in batches per endpoint and outcome, so that it adds no
 * cost to the deliveries themselves. A crash can lose its last 20 ms; deliveries never depend on it. When it cannot
 * keep up, records are dropped and counted, and no delivery waits.
 */
import { Context, Effect, Latch, Layer, Queue } from "effect"
import { Publisher } from "#bus"
import type { Attempt, Delivery, DeliveryFormat } from "#webhooks/contract"
import { isoTime, subjects } from "#base"
import { Metrics } from "#runtime"
import { attemptBatchCodec } from "#webhooks"
import { attemptRecordsDropped } from "./metrics.ts"
import { type AttemptResult, type Decision, describe, isSuccess } from "./retry-policy.ts"

// This many of the largest records, with headers and an answer, stay below the stream's message limit.
const batchRecordsMax = { delivered: 128, failed: 32, refused: 32, gone: 32 }
const flushAfter = "20 millis"
// One second of the fastest delivery measured; about 5 MB.
const queueCapacity = 8_192

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

      const write = ({ subject, records }: Batch) =>
        publisher
          .publish(subject, attemptBatchCodec, records)
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
          yield* Effect.forEach(batches(taken), write, {
            concurrency: 8,
            discard: true
          })
        }
      })
      // Sleeps while nothing is delivered.
      const added = yield* Latch.make(false)
      const nextBatch = Effect.andThen(added.await, Effect.andThen(added.close, Effect.sleep(flushAfter)))
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(nextBatch, flush)))
      yield* Effect.addFinalizer(() => flush)
      return AttemptLog.of({
        flush,
        add: (endpointId, record) => {
          if (!Queue.offerUnsafe(queue, { endpointId, record })) dropped.inc({})
          added.openUnsafe()
        }
      })
    })
  )
}

interface Batch {
  readonly subject: string
  readonly records: ReadonlyArray<Attempt>
}

const batches = (attempts: ReadonlyArray<LoggedAttempt>): ReadonlyArray<Batch> => {
  const bySubject = Map.groupBy(attempts, ({ endpointId, record }) => subjects.attempts(endpointId, record.outcome))
  return [...bySubject].flatMap(([subject, logged]) => {
    const records = logged.map((attempt) => attempt.record)
    const size = batchRecordsMax[records[0]?.outcome ?? "failed"]
    const count = Math.ceil(records.length / size)
    return Array.from({ length: count }, (_, index) => ({
      subject,
      records: records.slice(index * size, (index + 1) * size)
    }))
  })
}

// How much of the receiver's answer is kept: enough for an error message.
const responseCharactersMax = 1_024

const utf8 = new TextDecoder("utf-8", { fatal: false })

interface MadeAttempt {
  readonly startedAtMs: number
  readonly durationMs: number
  readonly result: AttemptResult
  readonly body: Uint8Array
  /** The answer's headers; none without an answer. */
  readonly headers: Readonly<Record<string, string>>
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly decision: Decision
  readonly format?: DeliveryFormat
  /** Removes the shared secret, which a failing receiver can echo. */
  readonly redact: (text: string) => string
}

/** The record of one attempt. Pure. */
export const attemptRecord = (delivery: Delivery, endpointName: string, attempt: MadeAttempt): Attempt => ({
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
  nextAttemptAt: attempt.decision._tag === "Retry" ? isoTime(attempt.decision.dueAtMs) : null,
  ...(attempt.format === undefined || attempt.format === "starling" ? {} : { format: attempt.format }),
  ...(delivery.previousEndedAt === undefined ? {} : { previousEndedAt: delivery.previousEndedAt }),
  ...(isQuiet(attempt.result)
    ? {}
    : {
        requestHeaders: keptHeaders(attempt.requestHeaders, attempt.redact),
        responseHeaders: keptHeaders(attempt.headers, attempt.redact)
      })
})

// Enough for typical error headers of receivers and their proxies.
const headersCharactersMax = 2_048
const headerCharactersMax = 512

/** The headers without secrets, as many as fit. Cookies are a receiver's own secrets. */
const keptHeaders = (
  headers: Readonly<Record<string, string>>,
  redact: (text: string) => string
): Readonly<Record<string, string>> => {
  let left = headersCharactersMax
  const kept = Object.entries(headers).flatMap(([name, value]) => {
    const text = name.toLowerCase() === "set-cookie" ? "[cookie]" : redact(value).slice(0, headerCharactersMax)
    left -= name.length + text.length
    return left < 0 ? [] : [[name, text] as const]
  })
  return Object.fromEntries(kept)
}

// The body of a success is not kept: thousands a second would only say "ok".
const isQuiet = (result: AttemptResult) => result._tag === "Answered" && isSuccess(result.status)

const outcomeOf = (decision: Decision, result: AttemptResult): Attempt["outcome"] => {
  if (decision._tag === "Delivered") return "delivered"
  if (decision._tag === "Gone") return "gone"
  return result._tag === "NotAnswered" && result.error.startsWith("AddressRefused") ? "refused" : "failed"
}
