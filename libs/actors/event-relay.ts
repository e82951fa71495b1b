/**
 * Relays LOG to EVENTS: unpacks every record into the envelopes it carries, in order, each once. The cursor stands in
 * EVENTS and moves with the written events; see the relay for what a crash can repeat. A record that cannot be read
 * goes to REJECTED and holds up nothing: its events are missing, and an operator must look at it.
 */
import { Effect, Result, Schema } from "effect"
import {
  batchMessagesMax,
  header,
  jsonCodec,
  Rejections,
  relay,
  relayRecordCodec,
  type RelayStep,
  type SourceMessage
} from "#bus"
import { subjects } from "#contracts"
import { defineCounter, Health, Metrics } from "#runtime"
import { cachedRecord, type RecordHead, recordHeadCodec } from "./record.ts"

export const eventsPublishedTotal = defineCounter({
  name: "actor_events_announced_total",
  help: "Events of actors that were published to EVENTS.",
  labels: []
})

const Cursor = Schema.Struct({ position: Schema.Int })
interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

// Beyond this a batch carries no more a second, and its first event waits longer.
const stepEventsMax = 128
// A relay that has neither read nor been idle for this long is stuck.
const stallMs = 30_000

interface ReadRecord {
  readonly sequence: number
  readonly head: RecordHead
  readonly traceparent: string | undefined
}

/** Runs until interrupted, under supervision. One is enough; a second one does no harm. */
export const eventRelay = Effect.fnUntraced(function* (onStarted: Effect.Effect<unknown>) {
  const rejections = yield* Rejections
  const published = (yield* Metrics).counter(eventsPublishedTotal)
  const loop = yield* (yield* Health).loop("announce", { stallMs })

  const translate = Effect.fnUntraced(function* (run: ReadonlyArray<SourceMessage>, cursor: Cursor) {
    const records: Array<ReadRecord> = []
    for (const message of run) {
      const own = cachedRecord(message.data)
      const read = own === undefined ? recordHeadCodec.decode(message) : Result.succeed(own)
      const { subject, sequence, data: payload } = message
      if (Result.isSuccess(read)) {
        records.push({ sequence, head: read.success, traceparent: message.header(header.traceparent) })
      } else yield* rejections.reject({ origin: "log", subject, sequence, faults: read.failure, payload })
    }
    return stepsOf(records, run.at(-1)?.sequence ?? cursor.position)
  })

  return relay({
    name: "announce",
    source: "LOG",
    target: "EVENTS",
    place: { subject: subjects.eventsCursor, codec: relayRecordCodec(Cursor) },
    // From the beginning: every decision ever made becomes events.
    begin: () => ({ position: 0 }),
    position: (cursor) => cursor.position,
    isOurs: () => true,
    translate,
    aside: () => Effect.succeed([]),
    onCursor: (_, written) =>
      Effect.sync(() => {
        if (written.length > 0) published.inc({}, written.length)
      }),
    onStarted: Effect.asVoid(onStarted),
    loop
    // Retrying while the broker is away is no stall: the process must outlive it.
  }).pipe(Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)))
})

/** Whole records, some hundred events a step; the last step ends at the last record read. Pure. */
export const stepsOf = (records: ReadonlyArray<ReadRecord>, lastSequence: number): ReadonlyArray<RelayStep<Cursor>> => {
  const steps: Array<RelayStep<Cursor>> = []
  let messages: Array<RelayStep<Cursor>["messages"][number]> = []
  for (const [index, record] of records.entries()) {
    messages.push(...messagesOf(record))
    const next = records[index + 1]?.head.events.length ?? 0
    if (messages.length < stepEventsMax && messages.length + next < batchMessagesMax) continue
    steps.push({ messages, cursor: { position: record.sequence } })
    messages = []
  }
  if (messages.length > 0 || steps.at(-1)?.cursor.position !== lastSequence) {
    steps.push({ messages, cursor: { position: lastSequence } })
  }
  return steps
}

const body = jsonCodec(Schema.Unknown)

const messagesOf = ({ sequence, head, traceparent }: ReadRecord) =>
  head.events.map((event, index) => ({
    subject: subjects.event(event.event),
    data: body.encode(event).data,
    headers: [
      [header.messageId, `log.${sequence}.${index}`] as const,
      ...(traceparent === undefined ? [] : [[header.traceparent, traceparent] as const])
    ]
  }))
