/**
 * Writes several messages of one stream together: all of them are stored, or none. The broker takes at most
 * 1,000 messages a batch. Only the last message asks for a reply, so a batch costs one round trip.
 */
import { Effect, Schema } from "effect"
import { type BusError, BusRefused, BusUnavailable, fromApiError } from "./errors.ts"
import { header, type HeaderPairs, toHeaders } from "./message-headers.ts"
import type { Nats } from "./Nats.ts"

/** One message of a batch. */
export interface BatchMessage {
  readonly subject: string
  readonly data: Uint8Array
  readonly headers: HeaderPairs
}

/** The broker's limit, the committing message included. */
export const batchMessagesMax = 1_000

// A batch of 1,000 messages is stored in about 30 ms; five seconds is a broker in trouble.
const commitTimeoutMs = 5_000

const Reply = Schema.Struct({
  seq: Schema.optionalKey(Schema.Int),
  error: Schema.optionalKey(
    Schema.Struct({ code: Schema.Int, err_code: Schema.optionalKey(Schema.Int), description: Schema.String })
  )
})
const decodeReply = Schema.decodeUnknownEffect(Schema.fromJsonString(Reply))

/** Stores `messages` as one. Answers with the sequence of the last. */
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
  const answer = yield* nats.use(operation, ({ connection }) => {
    messages.forEach((message, index) => {
      if (message === last) return
      connection.publish(message.subject, message.data, { headers: batchHeaders(message.headers, batchId, index + 1) })
    })
    const headers = batchHeaders(last.headers, batchId, messages.length)
    headers.set(header.batchCommit, "1")
    return connection.request(last.subject, last.data, { headers, timeout: commitTimeoutMs })
  })
  const reply = yield* decodeReply(answer.string()).pipe(
    Effect.mapError((error) => new BusUnavailable({ operation, detail: `an answer we cannot read: ${error.message}` }))
  )
  if (reply.error !== undefined) {
    return yield* fromApiError(operation, reply.error.err_code ?? 0, reply.error.code, reply.error.description)
  }
  return reply.seq ?? 0
})

const batchHeaders = (pairs: HeaderPairs, batchId: string, sequence: number) => {
  const headers = toHeaders(pairs)
  headers.set(header.batchId, batchId)
  headers.set(header.batchSequence, String(sequence))
  return headers
}
