/** The end of an attempt in words. Pure. */
import type { Tone } from "../../design/tone.ts"

interface Ended {
  readonly outcome: "delivered" | "failed" | "refused" | "gone"
  readonly status: number | null
  readonly error: string | null
  readonly nextAttemptAt: string | null
}

/** What came back, and what follows: a failure that is tried again still waits. */
export const outcomeOf = ({
  outcome,
  status,
  error,
  nextAttemptAt
}: Ended): { readonly tone: Tone; readonly words: string } => {
  const answer = status === null ? (error ?? "no answer") : String(status)
  if (outcome === "delivered") return { tone: "good", words: `${answer} delivered` }
  if (nextAttemptAt !== null) return { tone: "wait", words: `${answer}, tried again` }
  if (outcome === "refused") return { tone: "bad", words: `${answer} refused for good` }
  if (outcome === "gone") return { tone: "bad", words: `${answer} gone` }
  return { tone: "bad", words: `${answer}, given up` }
}
