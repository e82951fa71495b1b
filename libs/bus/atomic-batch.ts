/**
 * Writes several messages of one stream together: all of them are stored, or none. The broker takes at most
 * 1,000 messages a batch. Only the last message asks for a reply, so a batch costs one round trip.
 */
import { Effect } from "effect"
import { type BusError, BusRefused } from "./errors.ts"
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
