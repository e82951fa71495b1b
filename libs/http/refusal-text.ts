/** The whole answer, head and body, to what was not understood as a request. */
import { STATUS_CODES } from "node:http"
import { Result } from "effect"
import type { ListenerLimits } from "./limits.ts"
import { requestIdOf } from "./request-facts.ts"
import { badRequest, headersTooLarge, requestTimeout } from "./wire-errors.ts"
import { type RenderError, renderStandardError, type WireError } from "./WireError.ts"

/** `code`: what node found wrong. */
export const refusalText = (code: string | undefined, limits: ListenerLimits, renderError: RenderError): string => {
  const error = refusedBy(code, limits)
  const requestId = requestIdOf(undefined)
  // A defect of the envelope would be nobody's here but the process'.
  const rendered = Result.try(() => JSON.stringify(renderError(error, requestId)))
  const body = Result.getOrElse(rendered, () => JSON.stringify(renderStandardError(error, requestId)))
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ""}`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    "connection: close"
  ]
  return `${head.join("\r\n")}\r\n\r\n${body}`
}

const refusedBy = (code: string | undefined, limits: ListenerLimits): WireError => {
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge(limits.headerBytesMax)
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return requestTimeout("the request did not arrive in time")
  return badRequest("this is not HTTP")
}
