/** What is known of an attempt's answer, in words where it is not shown. Pure. */
import type { Answer } from "../../api/client.ts"

type Attempt = Answer<"GET", "/deliveries/:deliveryId">["attempts"][number]
type Known = Pick<Attempt, "outcome" | "status" | "error" | "requestHeaders" | "responseHeaders" | "responseBody">

/** Why there are no headers and no body to look at; undefined where there are. */
export const whyNoAnswer = (attempt: Known): string | undefined => {
  const { outcome, status, error, requestHeaders, responseHeaders, responseBody } = attempt
  if (outcome === "delivered") {
    return `It answered ${String(status)}, which is all that is kept of a success: thousands a second would only say "ok". Headers and the first kilobyte are kept of attempts that did not deliver.`
  }
  if (requestHeaders === null && responseHeaders === null && responseBody === null) {
    return "Headers and body are not shown: your token lacks payloads:read, or an older release made the attempt."
  }
  if (status === null) return `No answer: ${error ?? "the reason is unknown"}.`
  return responseBody === "" ? `It answered ${status} with an empty body.` : undefined
}
