/**
 * Publishes to streams and waits until the broker has stored the message. A message carries the caller's
 * trace. What is in flight at once is bounded: beyond that, publishers wait for each other instead of
 * filling memory while the broker is slow.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { currentTraceparent, Metrics } from "#runtime"
import { type BatchMessage, writeBatch } from "./atomic-batch.ts"
import type { BusError } from "./errors.ts"
import { header, type HeaderPairs, toHeaders } from "./message-headers.ts"
import type { MessageCodec } from "./message-codec.ts"
import { busPublished } from "./metrics.ts"
import { Nats } from "./Nats.ts"
import type { Stored } from "./stream-writes.ts"
import { topology } from "./topology.ts"

export interface PublishOptions {
  /** Within the stream's dedupe window a second message of this id is not stored again. */
  readonly messageId?: string
  /** Store only if this is still the last sequence of the subject; else `RevisionConflict`. */
  readonly expectedLastSubjectSequence?: number
  /** Further headers. */
  readonly headers?: HeaderPairs
  /** This process reads it again: it is handed on then as the very object that is given here. */
  readonly isReadBack?: boolean
}

// A thousand confirmations on the way keep a fast publisher busy; more only adds memory.
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
    /** Stores all of them or none; answers with the sequence of the last. A batch costs the broker 2 ms. */
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
      const inFlight = yield* Semaphore.make(inFlightMax)

      const publishRaw = Effect.fnUntraced(function* (
        subject: string,
        data: Uint8Array,
        options: PublishOptions = {}
      ): Effect.fn.Return<Stored, BusError> {
        const traceparent = yield* currentTraceparent
        const headers = toHeaders(headerPairs(options, traceparent))
        if (options.isReadBack === true) nats.echoes.note(subject, data)
        const count = (outcome: string) => Effect.sync(() => published.inc({ stream: streamOf(subject), outcome }))
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

const streamsByFirstToken = new Map(
  topology.streams.flatMap((stream) => stream.subjects.map((subject) => [firstToken(subject), stream.name]))
)

// The label must stay a short, known list, whatever a caller publishes to.
const streamOf = (subject: string) => streamsByFirstToken.get(firstToken(subject)) ?? "none"

function firstToken(subject: string) {
  const dot = subject.indexOf(".")
  return dot === -1 ? subject : subject.slice(0, dot)
}
