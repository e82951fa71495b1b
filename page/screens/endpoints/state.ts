/** The state of an endpoint in a word. Pure. */
import type { Answer } from "../../api/client.ts"
import type { Tone } from "../../design/tone.ts"

export type EndpointRow = Answer<"GET", "/endpoints">["items"][number]
type Known = Pick<EndpointRow, "isEnabled" | "faults" | "paused" | "breakerOpenUntilMs" | "parkedFrom" | "settings">

/** The gravest that is true of it. */
export const stateOf = (endpoint: Known, nowMs: number): { readonly tone: Tone; readonly word: string } => {
  if (endpoint.faults.length > 0) return { tone: "bad", word: "unusable" }
  if (!endpoint.isEnabled) return { tone: "quiet", word: "disabled" }
  if (endpoint.paused !== null) return { tone: "wait", word: "paused" }
  const breaker = breakerOf(endpoint, nowMs)
  if (breaker !== "closed") return { tone: "bad", word: `breaker ${breaker}` }
  if (endpoint.parkedFrom !== null) return { tone: "wait", word: "catching up" }
  return { tone: "good", word: "in service" }
}

/** From its end on, one delivery probes, and the others wait for its answer. */
export const breakerOf = (
  { breakerOpenUntilMs, settings }: Pick<Known, "breakerOpenUntilMs" | "settings">,
  nowMs: number
) => {
  if (breakerOpenUntilMs === null || settings?.["CircuitBreaker"] === false) return "closed"
  return breakerOpenUntilMs > nowMs ? "open" : "half-open"
}
