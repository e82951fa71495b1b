/**
 * Relays LOG to EVENTS: unpacks every record into the envelopes it carries, in order, each once. Services outside the
 * fleet publish to EVENTS too, so the cursor is kept apart, and message ids cannot be guessed: otherwise an earlier
 * message under the same id would have the true event dropped as its copy. See the relay for what a crash can repeat.
 * An unreadable record goes to REJECTED and holds up nothing: its events are missing, and an operator must investigate.
 * So does an event that is too large for EVENTS.
 */
import { Effect, Result, Schema } from "effect"
import {
  header,
  isSmall,
  jsonCodec,
  Rejections,
  relay,
  relayPlace,
  relayRecordCodec,
  type RelayStep,
  type SourceMessage
} from "#bus"
import { Count, subjects } from "#base"
import { defineCounter, Health, Metrics } from "#runtime"
import { cachedRecord, type RecordHead, recordHeadCodec } from "./record.ts"

export const eventsPublishedTotal = defineCounter({
  name: "actor_events_announced_total",
  help: "Events of actors that were published to EVENTS.",
  labels: []
})

/** `done`: how many events of the record after `position` are relayed, if its events fill more than a step. */
const Cursor = Schema.Struct({ position: Count, done: Schema.optionalKey(Count) })
export interface Cursor extends Schema.Schema.Type<typeof Cursor> {}

export const eventRelayCodec = relayRecordCodec(Cursor)
export const eventRelayPlace = { ...relayPlace("events"), codec: eventRelayCodec }

// A relay that has neither read nor been idle for this long is stuck.
const stallMs = 30_000

interface ReadRecord {
  readonly sequence: number
  readonly head: RecordHead
  readonly traceparent: string | undefined
}

/** Runs until interrupted, under supervision. One is enough; a second one is harmless. */
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
    return stepsOf(records, cursor, run.at(-1)?.sequence ?? cursor.position)
  })

  return relay({
    name: "announce",
    source: "LOG",
    target: "EVENTS",
    place: eventRelayPlace,
    before: subjects.eventsCursor,
    // From the beginning: every decision ever made becomes events.
    begin: () => ({ position: 0 }),
    position: (cursor) => cursor.position,
    isOurs: () => true,
    translate,
    aside: () => Effect.succeed([]),
    onRefused: (refused) =>
      Effect.forEach(
        refused,
        ({ message: { subject, data: payload }, refusal }) =>
          rejections.reject({
            origin: "log",
            subject,
            sequence: null,
            faults: [{ path: "", message: `the broker refused the event: ${refusal.detail}` }],
            payload
          }),
        { discard: true }
      ),
    onCursor: (_, written) =>
      Effect.sync(() => {
        if (written.length > 0) published.inc({}, written.length)
      }),
    onStarted: Effect.asVoid(onStarted),
    loop
    // Retrying while the broker is away is not a stall: the process must outlive it.
  }).pipe(Effect.tapErrorTag("BusUnavailable", () => Effect.sync(loop.beat)))
})

/** Steps small enough to be written ahead of their cursor; the last one ends at the last record read. Pure. */
export const stepsOf = (
  records: ReadonlyArray<ReadRecord>,
  begin: Cursor,
  lastSequence: number
): ReadonlyArray<RelayStep<Cursor>> => {
  const steps: Array<RelayStep<Cursor>> = []
  let messages: Array<RelayStep<Cursor>["messages"][number]> = []
  let bytes = 0
  let cursor = begin
  const end = () => {
    steps.push({ messages, cursor })
    messages = []
    bytes = 0
  }
  for (const record of records) {
    const events = messagesOf(record)
    const before = record.sequence - 1
    for (let done = before === begin.position ? (begin.done ?? 0) : 0; done < events.length; done += 1) {
      const message = events[done]
      if (message === undefined) break
      if (messages.length > 0 && !isSmall(messages.length + 1, bytes + message.data.length)) end()
      messages.push(message)
      bytes += message.data.length
      cursor = done + 1 < events.length ? { position: before, done: done + 1 } : { position: record.sequence }
    }
  }
  cursor = { position: lastSequence }
  if (messages.length > 0 || steps.at(-1)?.cursor.position !== lastSequence) end()
  return steps
}

const body = jsonCodec(Schema.Unknown)

const messagesOf = ({ sequence, head, traceparent }: ReadRecord) =>
  head.events.map((event, index) => ({
    subject: subjects.event(event.event),
    data: body.encode(event).data,
    headers: [
      [header.messageId, `log.${sequence}.${index}.${crypto.randomUUID()}`] as const,
      ...(traceparent === undefined ? [] : [[header.traceparent, traceparent] as const])
    ]
  }))
