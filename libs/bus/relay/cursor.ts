/**
 * A relay's cursor: the record of how far the relay has come, and the step that moves it. It is kept in the target
 * stream, or apart from it where others publish there. A crash between a step's two writes leaves a record of what to
 * finish.
 */
import { Effect, Option, Result, Schema } from "effect"
import type { Nats } from "../connection/connection.ts"
import { type BusError, BusRefused, isTooLarge } from "../errors.ts"
import { header, jsonCodec, type MessageCodec, toHeaders } from "../message.ts"
import { type BatchMessage, writeBatch } from "../publish.ts"
import type { RelayOptions } from "./relay.ts"

/**
 * Messages that are written together with the cursor after them. At most 999 messages; with a cursor apart from the
 * target, no more than `isSmall` allows, or a single one.
 */
export interface RelayStep<Cursor> {
  readonly messages: ReadonlyArray<BatchMessage>
  readonly cursor: Cursor
  /** Stored in this order, or not at all: in one batch, however small. */
  readonly isInOrder?: boolean
}

/** A relay's cursor location, and its codec. */
export interface CursorPlace<Cursor> {
  /** Undefined for the target stream. */
  readonly stream?: string
  readonly subject: string
  readonly codec: MessageCodec<RelayRecord<Cursor>>
}

/** The location of a cursor kept apart from the relay's target. */
export const relayPlace = (relay: string) => ({ stream: "KV_relays", subject: `$KV.relays.${relay}` })

// Up to this size two plain writes are faster than a batch, and the record stays far below a message's limit.
const smallMessagesMax = 32
const smallBytesMax = 48 * 1_024

/** Whether a step of this many messages and bytes is written ahead. */
export const isSmall = (messages: number, bytes: number): boolean =>
  messages <= smallMessagesMax && bytes <= smallBytesMax

/** A message that the broker will never accept, with the broker's reason. */
export interface RefusedMessage {
  readonly message: BatchMessage
  readonly refusal: BusRefused
}

export interface WrittenStep {
  /** The sequence of the new cursor. */
  readonly sequence: number
  /** Messages of a small step that the broker will never accept; the others are stored. */
  readonly refused: ReadonlyArray<RefusedMessage>
}

/**
 * Writes a step. A large step, and one in order, goes in one atomic batch with its cursor, where both are in one stream. The broker takes
 * two milliseconds for any batch, so a small step is written ahead instead: first the cursor with the step's messages
 * in it, then the messages. Fails when a twin was faster.
 *
 * A batch begins with the cursor: the broker explains a refusal exactly only for the last message, and in a step of one
 * source message that reason applies to all of its messages.
 */
export const writeStep = <Cursor>(
  nats: Nats["Service"],
  place: CursorPlace<Cursor>,
  step: RelayStep<Cursor>,
  expectedSequence: number
): Effect.Effect<WrittenStep, BusError> => {
  const bytes = step.messages.reduce((sum, message) => sum + message.data.length, 0)
  if (place.stream === undefined && (step.isInOrder === true || !isSmall(step.messages.length, bytes))) {
    const cursor = cursorMessage(place, { cursor: step.cursor, pending: [] }, expectedSequence)
    return Effect.map(writeBatch(nats, crypto.randomUUID(), [cursor, ...step.messages]), (last) => ({
      sequence: last - step.messages.length,
      refused: []
    }))
  }
  const record = { cursor: step.cursor, pending: step.messages.map(toPending) }
  return Effect.flatMap(writeCursor(nats, place, record, expectedSequence), (sequence) =>
    Effect.map(publishAll(nats, step.messages), (refused) => ({ sequence, refused }))
  )
}

/** Writes only a cursor's record, and returns its sequence. Fails like `writeStep`. */
export const writeCursor = <Cursor>(
  nats: Nats["Service"],
  place: CursorPlace<Cursor>,
  record: RelayRecord<Cursor>,
  expectedSequence: number
): Effect.Effect<number, BusError> => publish(nats, cursorMessage(place, record, expectedSequence))

/** Publishes a record's messages not yet known to be stored; returns those that never will be. */
export const finishPending = <Cursor>(nats: Nats["Service"], record: RelayRecord<Cursor>) =>
  publishAll(nats, record.pending.map(fromPending))

const publishAll = (
  nats: Nats["Service"],
  messages: ReadonlyArray<BatchMessage>
): Effect.Effect<ReadonlyArray<RefusedMessage>, BusError> => {
  const refused: Array<RefusedMessage> = []
  const publishing = (message: BatchMessage) =>
    publish(nats, message).pipe(
      Effect.catchIf(isTooLarge, (refusal) => Effect.sync(() => void refused.push({ message, refusal })))
    )
  return Effect.as(Effect.forEach(messages, publishing, { concurrency: "unbounded", discard: true }), refused)
}

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
      // A bucket keeps one message per subject by itself.
      ...(place.stream === undefined ? [[header.rollup, "sub"] as const] : [])
    ]
  }
}

const Pending = Schema.Struct({
  subject: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  dataBase64: Schema.String
})

/**
 * The record at the cursor's subject. Its reader publishes the pending messages first; their ids are fixed, so the
 * worst case is a message sent twice under one id.
 */
export interface RelayRecord<Cursor> {
  readonly cursor: Cursor
  /** The messages of the last step, unless they were written in the same batch. */
  readonly pending: ReadonlyArray<typeof Pending.Type>
  /** The writer has stopped for good: a standby can begin at once. */
  readonly handedOver?: boolean
}

/** Older fleets stored the bare cursor; it is read as one with nothing pending. */
export const relayRecordCodec = <Cursor>(cursor: Schema.Codec<Cursor, Cursor>): MessageCodec<RelayRecord<Cursor>> => {
  const record = jsonCodec(
    Schema.Struct({ cursor, pending: Schema.Array(Pending), handedOver: Schema.optionalKey(Schema.Boolean) })
  )
  const bare = jsonCodec(cursor)
  return {
    encode: record.encode,
    decode: (message) =>
      Result.orElse(record.decode(message), (faults) =>
        Result.mapBoth(bare.decode(message), {
          onSuccess: (value) => ({ cursor: value, pending: [] }),
          onFailure: () => faults
        })
      )
  }
}

const toPending = (message: BatchMessage): typeof Pending.Type => ({
  subject: message.subject,
  headers: message.headers.map(([name, value]) => [name, value] as const),
  dataBase64: Buffer.from(message.data).toString("base64")
})

const fromPending = (pending: typeof Pending.Type): BatchMessage => ({
  subject: pending.subject,
  headers: pending.headers,
  data: Buffer.from(pending.dataBase64, "base64")
})

interface StoredCursor<Cursor> {
  readonly record: RelayRecord<Cursor>
  /** The sequence of the record in its stream, which the next write expects. */
  readonly sequence: number
}

/** The relay's stored cursor, from its stream's leader. None when it never ran. */
export const storedCursor = <Cursor, E, R>(
  nats: Nats["Service"],
  { name, target, place }: RelayOptions<Cursor, E, R>
): Effect.Effect<Option.Option<StoredCursor<Cursor>>, BusError> =>
  readCursor(nats, name, { ...place, stream: place.stream ?? target })

const readCursor = Effect.fnUntraced(function* <Cursor>(
  nats: Nats["Service"],
  name: string,
  { stream, subject, codec }: CursorPlace<Cursor> & { readonly stream: string }
): Effect.fn.Return<Option.Option<StoredCursor<Cursor>>, BusError> {
  const stored = yield* nats.last(stream, subject)
  if (Option.isNone(stored)) return Option.none()
  const decoded = codec.decode(stored.value)
  if (Result.isFailure(decoded)) {
    const detail = `the stored cursor is broken: ${JSON.stringify(decoded.failure)}`
    return yield* new BusRefused({ operation: `read the cursor of ${name}`, detail, code: 0 })
  }
  return Option.some({ record: decoded.success, sequence: stored.value.sequence })
})

/**
 * The cursor that the previous release keeps in the target stream, if it is ahead of `own`, as after an upgrade or a
 * rollback.
 */
export const olderCursor = Effect.fnUntraced(function* <Cursor, E, R>(
  nats: Nats["Service"],
  { name, target, place, before, position }: RelayOptions<Cursor, E, R>,
  own: Option.Option<StoredCursor<Cursor>>
): Effect.fn.Return<Option.Option<RelayRecord<Cursor>>, BusError> {
  if (before === undefined) return Option.none()
  const found = yield* readCursor(nats, name, { ...place, stream: target, subject: before })
  return Option.filter(
    Option.map(found, ({ record }) => record),
    ({ cursor }) => Option.isNone(own) || position(cursor) > position(own.value.record.cursor)
  )
})

/** The last sequence of the relay's source. */
export const lastOfSource = <Cursor, E, R>(nats: Nats["Service"], { source }: RelayOptions<Cursor, E, R>) =>
  nats
    .use(`read ${source}`, ({ manager }) => manager.streams.info(source))
    .pipe(Effect.map((info) => info.state.last_seq))
