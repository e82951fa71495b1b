/**
 * When a node that does not answer is left alone. Pure. Five calls in a row without an answer, and it is asked
 * again only after half a second, by one call alone; each further failure doubles the wait, up to fifteen seconds.
 */

export interface Breaker {
  /** Calls without an answer since the last one with. */
  readonly failures: number
  /** Nobody asks before it. */
  readonly closedAtMs: number
}

export const healthy: Breaker = { failures: 0, closedAtMs: 0 }

const failuresMax = 5
const waitMsMin = 500
const waitMsMax = 15_000

export const isOpen = ({ failures }: Breaker): boolean => failures >= failuresMax

export const mayAsk = (breaker: Breaker, nowMs: number): boolean => !isOpen(breaker) || nowMs >= breaker.closedAtMs

/** The call that tries an open one out has it to itself for as long as it may take. */
export const asked = (breaker: Breaker, nowMs: number, deadlineMs: number): Breaker =>
  isOpen(breaker) ? { ...breaker, closedAtMs: nowMs + deadlineMs } : breaker

export const failed = ({ failures }: Breaker, nowMs: number): Breaker => {
  const now = failures + 1
  if (now < failuresMax) return { failures: now, closedAtMs: 0 }
  // Bounded, so that a power of two of many failures stays a number.
  const doublings = Math.min(now - failuresMax, 10)
  return { failures: now, closedAtMs: nowMs + Math.min(waitMsMin * 2 ** doublings, waitMsMax) }
}
