/** The state of an endpoint in a word. Pure. */
import type { Answer } from "../../api/client.ts"
import type { Tone } from "../../design/tone.ts"

export type EndpointRow = Answer<"GET", "/endpoints">["items"][number]
type Known = Pick<EndpointRow, "isEnabled" | "faults" | "paused" | "breakerOpenUntilMs" | "parkedFrom">

/** The gravest that is true of it. */
export const stateOf = (endpoint: Known, nowMs: number): { readonly tone: Tone; readonly word: string } => {
  if (endpoint.faults.length > 0) return { tone: "bad", word: "unusable" }
  if (!endpoint.isEnabled) return { tone: "quiet", word: "disabled" }
  if (endpoint.paused !== null) return { tone: "wait", word: "paused" }
  if (endpoint.breakerOpenUntilMs !== null && endpoint.breakerOpenUntilMs > nowMs)
    return { tone: "bad", word: "breaker open" }
  if (endpoint.parkedFrom !== null) return { tone: "wait", word: "catching up" }
  return { tone: "good", word: "in service" }
}
