/**
 * What is to be done about a claim that nobody has touched for a while. Pure. Ages are by the broker's clock,
 * which alone says how old a record is: no replica's clock can end another's lease.
 */
import type { Move } from "./claim-policy.ts"
import type { ClaimState } from "./claim-record.ts"

export interface SweepTimes {
  readonly leaseMs: number
  /** A settler that is at work reports within this. */
  readonly settleWithinMs: number
}

export interface Live {
  readonly state: ClaimState
  readonly asked: number
  /** When the record was written, by the broker. */
  readonly writtenAtMs: number
}

export type SweepMove = "Release" | "Settle" | "AskAgain"

const backoffDoublingsMax = 5

/** The move that is due, if one is. What was given out must be paid for; what was not is let go. */
export const dueMove = (live: Live, nowMs: number, times: SweepTimes): SweepMove | undefined => {
  const ageMs = nowMs - live.writtenAtMs
  if (live.state === "CLAIMED") return ageMs >= times.leaseMs ? "Release" : undefined
  if (live.state === "SERVING") return ageMs >= times.leaseMs ? "Settle" : undefined
  if (live.state !== "SETTLING") return undefined
  const doublings = Math.min(backoffDoublingsMax, Math.max(0, live.asked - 1))
  return ageMs >= times.settleWithinMs * 2 ** doublings ? "AskAgain" : undefined
}

export const moveOf = (due: SweepMove, nowMs: number): Move => {
  if (due === "Release") return { _tag: "Release", reason: "lease ended" }
  return due === "Settle" ? { _tag: "Settle", atMs: nowMs } : { _tag: "AskAgain" }
}
