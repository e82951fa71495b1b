/** How the list of what happened is filtered and coloured. Pure. */
import type { Answer } from "../../api/client.ts"
import type { Tone } from "../../design/tone.ts"

type Happening = Answer<"GET", "/timeline">["items"][number]
export type Kind = Happening["kind"]

export const kinds: ReadonlyArray<{ readonly value: Kind; readonly label: string }> = [
  { value: "condition", label: "Conditions" },
  { value: "breaker", label: "Breakers" },
  { value: "process", label: "Starts" },
  { value: "lease", label: "Leases" },
  { value: "act", label: "Acts" }
]

/** What hurts is red, what is over is green, and what is no trouble is quiet. */
export const toneOf = (change: Happening["change"], severity: Happening["severity"]): Tone => {
  if (change === "ended" || change === "closed") return "good"
  if (change === "opened") return "bad"
  if (change !== "begun") return "quiet"
  return severity === "critical" ? "bad" : "wait"
}
