/** The configuration's `Payments` as what claims and their sweep are told. Pure. */
import type { Payments } from "#contracts"
import type { ClaimOptions } from "./Claims.ts"
import type { SweepTimes } from "./sweep-policy.ts"

// A settler that is at work has an end within a few blocks.
const settleWithinMs = 30_000

export const claimOptionsOf = (section: Pick<Payments, "ExposureMax" | "AheadMax" | "KeptHours">): ClaimOptions => ({
  exposureMax: section.ExposureMax,
  aheadMax: section.AheadMax,
  keptMs: section.KeptHours * 3_600_000
})

export const sweepTimesOf = (section: Pick<Payments, "LeaseSeconds">): SweepTimes => ({
  leaseMs: section.LeaseSeconds * 1_000,
  settleWithinMs
})
