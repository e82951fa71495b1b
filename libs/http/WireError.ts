/**
 * A refusal as a caller sees it, before an API has put it in its envelope: status, code and message, and what
 * helps to do better next time. A handler fails with one; everything else it fails with is a defect.
 */
import { Schema } from "effect"

const texts = Schema.Record(Schema.String, Schema.String)

export class WireError extends Schema.TaggedError<WireError>()("WireError", {
  status: Schema.Int,
  code: Schema.String,
  message: Schema.String,
  /** What is wrong, by the path of the field: `turns[0].input`. */
  fields: Schema.optionalKey(texts),
  details: Schema.optionalKey(Schema.Record(Schema.String, Schema.Unknown)),
  docsUrl: Schema.optionalKey(Schema.String),
  /** Headers that belong to the refusal, like Retry-After. */
  headers: Schema.optionalKey(texts)
}) {}

/** How an API writes a refusal: the JSON body. */
export type RenderError = (error: WireError, requestId: string) => unknown

/** The envelope of our own APIs. */
export const renderStandardError: RenderError = ({ code, message, fields, details, docsUrl }, requestId) => ({
  error: {
    code,
    message,
    ...(fields === undefined ? {} : { fields }),
    ...(details === undefined ? {} : { details }),
    ...(docsUrl === undefined ? {} : { docs_url: docsUrl })
  },
  request_id: requestId
})
