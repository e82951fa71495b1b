/** The body of every refusal of our own APIs. */
import { Schema } from "effect"
import { describe } from "../primitives.ts"

export const ErrorEnvelope = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String,
    message: Schema.String,
    fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)).pipe(
      describe("Every fault by the path of its field, as `turns[0].input`.")
    ),
    details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
    docs_url: Schema.optionalKey(Schema.String)
  }),
  request_id: Schema.String.pipe(describe("Also in the header X-Request-Id."))
}).annotate({ identifier: "ErrorEnvelope" })
export interface ErrorEnvelope extends Schema.Schema.Type<typeof ErrorEnvelope> {}
