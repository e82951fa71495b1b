/** A refusal of the speech API as lines for a terminal: what is wrong, where, and when to come back. Pure. */
import { Result, Schema } from "effect"

const Envelope = Schema.fromJsonString(
  Schema.Struct({
    error: Schema.Struct({
      code: Schema.String,
      message: Schema.String,
      fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
    }),
    request_id: Schema.String
  })
)

export interface RefusedAnswer {
  readonly status: number
  readonly retryAfter: string | null
  readonly body: string
}

export const refusalLines = ({ status, retryAfter, body }: RefusedAnswer): string => {
  const read = Schema.decodeResult(Envelope)(body)
  if (Result.isFailure(read)) return `the speech API answered ${status}: ${oneLine(body)}`
  const { error, request_id: requestId } = read.success
  const again = retryAfter === null ? "" : `; try again in ${retryAfter} s`
  const of = `(${status} ${error.code}, ${requestId})${again}`
  const fields = Object.entries(error.fields ?? {}).map(([name, text]) => `${name}: ${oneLine(text)}`)
  // A message that repeats its only field says nothing more than that.
  const [only] = fields
  if (fields.length === 1 && only?.endsWith(`: ${oneLine(error.message)}`) === true) return `${only} ${of}`
  return [`${oneLine(error.message)} ${of}`, ...fields.map((field) => `  ${field}`)].join("\n")
}

const oneLine = (text: string) => text.replaceAll(/\s+/gu, " ").trim().slice(0, 500)
