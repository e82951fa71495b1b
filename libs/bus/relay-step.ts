/**
 * Writes one step of a relay. A large step goes in one atomic batch with its cursor. The broker takes two
 * milliseconds for any batch, however small, so a small step is written ahead instead: first the cursor with
 * the step's messages in it, then the messages. A crash in between leaves a record that says what to finish.
 */
import { Effect } from "effect"
import { type BatchMessage, writeBatch } from "./atomic-batch.ts"
import type { BusError } from "./errors.ts"
import { header, toHeaders } from "./message-headers.ts"
import type { MessageCodec } from "./message-codec.ts"
import type { Nats } from "./Nats.ts"
import { fromPending, type RelayRecord, toPending } from "./relay-record.ts"

/** Messages that are written together with the cursor after them. At most 999 messages. */
export interface RelayStep<Cursor> {
  readonly messages: ReadonlyArray<BatchMessage>
  readonly cursor: Cursor
}

/** Where a relay's cursor stands and how it is written. */
export interface CursorPlace<Cursor> {
  readonly subject: string
  readonly codec: MessageCodec<RelayRecord<Cursor>>
}

// Up to here two plain writes are faster than a batch, and the record stays far below a message's limit.
const smallMessagesMax = 32
const smallBytesMax = 48 * 1_024

/** Answers with the sequence of the new cursor. Fails with `RevisionConflict` when a twin was faster. */
export const writeStep = <Cursor>(
  nats: Nats["Service"],
  place: CursorPlace<Cursor>,
  step: RelayStep<Cursor>,
  expectedSequence: number
): Effect.Effect<number, BusError> => {
  const bytes = step.messages.reduce((sum, message) => sum + message.data.length, 0)
  if (step.messages.length > smallMessagesMax || bytes > smallBytesMax) {
    const cursor = cursorMessage(place, { cursor: step.cursor, pending: [] }, expectedSequence)
    return writeBatch(nats, crypto.randomUUID(), [...step.messages, cursor])
  }
  const record = { cursor: step.cursor, pending: step.messages.map(toPending) }
  return writeCursor(nats, place, record, expectedSequence).pipe(Effect.tap(() => publishAll(nats, step.messages)))
}

/** Writes the record of a cursor alone. Answers and fails as `writeStep` does. */
export const writeCursor = <Cursor>(
  nats: Nats["Service"],
  place: CursorPlace<Cursor>,
  record: RelayRecord<Cursor>,
  expectedSequence: number
): Effect.Effect<number, BusError> => publish(nats, cursorMessage(place, record, expectedSequence))

/** Publishes what a record says was not yet known to be stored. */
export const finishPending = <Cursor>(nats: Nats["Service"], record: RelayRecord<Cursor>) =>
  publishAll(nats, record.pending.map(fromPending))

const publishAll = (nats: Nats["Service"], messages: ReadonlyArray<BatchMessage>) =>
  Effect.forEach(messages, (message) => publish(nats, message), { concurrency: "unbounded", discard: true })

const publish = (nats: Nats["Service"], message: BatchMessage) =>
  Effect.map(
    nats.write(`publish ${message.subject}`, { ...message, headers: toHeaders(message.headers) }),
    (stored) => stored.sequence
  )

const cursorMessage = <Cursor>(
  place: CursorPlace<Cursor>,
  record: RelayRecord<Cursor>,
  expectedSequence: number
): BatchMessage => {
  const encoded = place.codec.encode(record)
  return {
    subject: place.subject,
    data: encoded.data,
    headers: [
      ...encoded.headers,
      [header.expectedLastSubjectSequence, String(expectedSequence)],
      [header.rollup, "sub"]
    ]
  }
}
