/**
 * Publishes to streams and waits until the broker has stored the message. A message carries the caller's trace.
 * Publishes in flight are bounded: beyond the bound, publishers wait for each other instead of filling memory while the
 * broker is slow.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { isoTime } from "#base"
import { currentTraceparent, defineCounter, Metrics, Role } from "#runtime"
import { Nats } from "./connection/connection.ts"
import type { Stored } from "./connection/stream-calls.ts"
import { type BusError, BusRefused } from "./errors.ts"
import { header, type HeaderPairs, type MessageCodec, toHeaders } from "./message.ts"
import { streamOf, topology } from "./topology/topology.ts"

export const busPublished = defineCounter({
  name: "bus_published_total",
  help: "Messages whose storage the broker confirmed (outcome stored), or did not (outcome failed), by stream.",
  labels: ["stream", "outcome"],
  values: { outcome: ["stored", "failed"] }
})

export interface PublishOptions {
  /** Within the stream's dedupe window a second message with this id is not stored again. */
  readonly messageId?: string
  /** Store only if this is still the last sequence of the subject. */
  readonly expectedLastSubjectSequence?: number
  /** Further headers. */
  readonly headers?: HeaderPairs
  /** This process reads the message back and then gets the very object given here. */
  readonly isReadBack?: boolean
}

// A thousand unconfirmed messages keep a fast publisher busy; more only adds memory.
const inFlightMax = 1_024

export class Publisher extends Context.Service<
  Publisher,
  {
    /** Encodes and stores a value. */
    readonly publish: <A>(
      subject: string,
      codec: MessageCodec<A>,
      value: A,
      options?: PublishOptions
    ) => Effect.Effect<Stored, BusError>
    /** Stores all of them or none; returns the sequence of the last. A batch costs the broker 2 ms. */
    readonly publishTogether: (messages: ReadonlyArray<BatchMessage>) => Effect.Effect<number, BusError>
    /** Stores bytes as they are. */
    readonly publishRaw: (
      subject: string,
      data: Uint8Array,
      options?: PublishOptions
    ) => Effect.Effect<Stored, BusError>
  }
>()("starling/bus/Publisher") {
  static readonly layer = Layer.effect(
    Publisher,
    Effect.gen(function* () {
      const nats = yield* Nats
      const published = (yield* Metrics).counter(busPublished)
      const role = yield* Role
      for (const { name, publishers } of topology.streams) {
        if (publishers.some((party) => party === role)) published.begin({ stream: name })
      }
      const inFlight = yield* Semaphore.make(inFlightMax)

      const publishRaw = Effect.fnUntraced(function* (
        subject: string,
        data: Uint8Array,
        options: PublishOptions = {}
      ): Effect.fn.Return<Stored, BusError> {
        const traceparent = yield* currentTraceparent
        const headers = toHeaders(headerPairs(options, traceparent))
        if (options.isReadBack === true) nats.cache.put(subject, data)
        const count = (outcome: "stored" | "failed") =>
          Effect.sync(() => published.inc({ stream: streamOf(subject) ?? "none", outcome }))
        return yield* nats.write(`publish ${subject}`, { subject, data, headers }).pipe(
          Effect.tap(() => count("stored")),
          Effect.tapError(() => count("failed"))
        )
      }, inFlight.withPermits(1))

      return Publisher.of({
        publishRaw,
        publishTogether: (messages) => inFlight.withPermits(1)(writeBatch(nats, crypto.randomUUID(), messages)),
        publish: (subject, codec, value, options) => {
          const encoded = codec.encode(value)
          const headers = [...encoded.headers, ...(options?.headers ?? [])]
          return publishRaw(subject, encoded.data, { ...options, headers })
        }
      })
    })
  )
}

const headerPairs = (options: PublishOptions, traceparent: string | undefined): HeaderPairs => {
  const pairs: Array<readonly [string, string]> = [...(options.headers ?? [])]
  if (options.messageId !== undefined) pairs.push([header.messageId, options.messageId])
  if (options.expectedLastSubjectSequence !== undefined) {
    pairs.push([header.expectedLastSubjectSequence, String(options.expectedLastSubjectSequence)])
  }
  if (traceparent !== undefined) pairs.push([header.traceparent, traceparent])
  return pairs
}

export interface BatchMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: HeaderPairs
}

/** The broker's limit, including the committing message. */
export const batchMessagesMax = 1_000

/** Stores all of one stream's `messages`, or none, in one round trip. Returns the sequence of the last. */
export const writeBatch = Effect.fnUntraced(function* (
  nats: Nats["Service"],
  batchId: string,
  messages: ReadonlyArray<BatchMessage>
): Effect.fn.Return<number, BusError> {
  const last = messages.at(-1)
  const operation = `write a batch of ${messages.length}`
  if (last === undefined || messages.length > batchMessagesMax) {
    return yield* new BusRefused({ operation, detail: `a batch takes 1 to ${batchMessagesMax} messages`, code: 0 })
  }
  const write = ({ subject, data, headers }: BatchMessage, index: number) => ({
    subject,
    data,
    headers: batchHeaders(headers, batchId, index + 1)
  })
  const commit = write(last, messages.length - 1)
  commit.headers.set(header.batchCommit, "1")
  return (yield* nats.write(operation, commit, messages.slice(0, -1).map(write))).sequence
})

const batchHeaders = (pairs: HeaderPairs, batchId: string, sequence: number) => {
  const headers = toHeaders(pairs)
  headers.set(header.batchId, batchId)
  headers.set(header.batchSequence, String(sequence))
  return headers
}

// The tick of the broker's own clock for schedules.
const scheduleGridMs = 250

/**
 * Headers of a message that the broker keeps until its due time and then moves to another subject of the same stream.
 * One schedule per subject. It fires up to one tick early: the consumer waits out the rest.
 */
export const scheduleHeaders = (dueAtMs: number, targetSubject: string): HeaderPairs => [
  [header.schedule, `@at ${isoTime(dueAtMs - scheduleGridMs)}`],
  [header.scheduleTarget, targetSubject]
]
