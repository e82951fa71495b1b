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
  const isLong = status === null && error !== null && error.length > wordMax
  const answer = String(status ?? error ?? "no answer")
  // The code of a long error stands beside the words.
  const say = (how: string, separator = ", ") => (isLong ? how : `${answer}${separator}${how}`)
  const more = isLong ? { why: error } : {}
  if (outcome === "delivered") return { tone: "good", words: say("delivered", " "), ...more }
  if (nextAttemptAt !== null) return { tone: "wait", words: say("tried again"), ...more }
  if (outcome === "refused") return { tone: "bad", words: say("refused for good", " "), ...more }
  if (outcome === "gone") return { tone: "bad", words: say("gone", " "), ...more }
  return { tone: "bad", words: say("given up"), ...more }
}
