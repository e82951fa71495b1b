/** Whether a record of LOG is the last of its entity. Only one whose bytes say so is parsed. Pure. */
import { Result, Schema } from "effect"
import { jsonCodec, type SourceMessage } from "#bus"

const codec = jsonCodec(Schema.Struct({ isRetired: Schema.Boolean }))
const mark = '"isRetired":true'

export const isRetiredRecord = (message: SourceMessage): boolean => {
  const { buffer, byteOffset, byteLength } = message.data
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(mark)) return false
  const record = codec.decode(message)
  return Result.isSuccess(record) && record.success.isRetired
}
