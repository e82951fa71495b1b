/** The end of an attempt in words. Pure. */
import type { Tone } from "../../design/tone.ts"

interface Ended {
  readonly outcome: "delivered" | "failed" | "refused" | "gone"
  readonly status: number | null
  readonly error: string | null
  readonly nextAttemptAt: string | null
}

interface Outcome {
  readonly tone: Tone
  readonly words: string
  /** Why there was no answer, where that takes more than a word. */
  readonly why?: string
}

/** A word such as `timeout` stands in the badge itself. */
const wordMax = 24

/** What came back, and what follows: a failure that is tried again still waits. */
export const outcomeOf = ({ outcome, status, error, nextAttemptAt }: Ended): Outcome => {
  const isWord = error !== null && error.length <= wordMax
  const answer = status === null ? (isWord ? error : "no answer") : String(status)
  const more = status === null && error !== null && !isWord ? { why: error } : {}
  if (outcome === "delivered") return { tone: "good", words: `${answer} delivered`, ...more }
  if (nextAttemptAt !== null) return { tone: "wait", words: `${answer}, tried again`, ...more }
  if (outcome === "refused") return { tone: "bad", words: `${answer} refused for good`, ...more }
  if (outcome === "gone") return { tone: "bad", words: `${answer} gone`, ...more }
  return { tone: "bad", words: `${answer}, given up`, ...more }
}
