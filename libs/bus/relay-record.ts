/**
 * What a relay stores at its cursor's subject: the cursor, and the messages of its last step if they were
 * not written in the same batch. Whoever reads the record publishes those first; their ids are fixed, so
 * doing it twice changes nothing but, at worst, sends a message twice under one id.
 */
import { Result, Schema } from "effect"
import type { BatchMessage } from "./atomic-batch.ts"
import { jsonCodec, type MessageCodec } from "./message-codec.ts"

const Pending = Schema.Struct({
  subject: Schema.String,
  headers: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  dataBase64: Schema.String
})

export interface RelayRecord<Cursor> {
  readonly cursor: Cursor
  readonly pending: ReadonlyArray<typeof Pending.Type>
  /** Its writer has stopped for good: whoever stands by may begin at once. */
  readonly handedOver?: boolean
}

/** A fleet of before steps were written ahead stored the bare cursor; it is read as one with nothing pending. */
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

export const toPending = (message: BatchMessage): typeof Pending.Type => ({
  subject: message.subject,
  headers: message.headers.map(([name, value]) => [name, value] as const),
  dataBase64: Buffer.from(message.data).toString("base64")
})

export const fromPending = (pending: typeof Pending.Type): BatchMessage => ({
  subject: pending.subject,
  headers: pending.headers,
  data: Buffer.from(pending.dataBase64, "base64")
})
