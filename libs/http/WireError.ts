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

/** The same refusal with these details and headers beside its own. */
export const amended = (
  { status, code, message, fields, details, docsUrl, headers }: WireError,
  more: { readonly details?: WireError["details"]; readonly headers?: WireError["headers"] }
): WireError => {
  const all = {
    fields,
    docsUrl,
    details: details === undefined ? more.details : { ...details, ...more.details },
    headers: headers === undefined ? more.headers : { ...headers, ...more.headers }
  }
  const given = Object.entries(all).filter(([, value]) => value !== undefined)
  return new WireError({ status, code, message, ...Object.fromEntries(given) })
}

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
