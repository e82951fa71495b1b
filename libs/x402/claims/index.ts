/** One payment, one call. */
export { Claims, type ClaimOptions, claimOptionsOf, sweepTimesOf } from "./Claims.ts"
export { claimOfJob, factsOf, toBeSettled, verifiedClaim, keepAsking, settlementJobCodec } from "./settlement-job.ts"
export type { Claim } from "./ClaimStore.ts"
export { ClaimMove, ClaimRecord, type ClaimState, type SweepTimes } from "./claim.ts"
export { type PayerRecord, isGivenOut } from "./payer.ts"
export { ClaimLost, ClaimRefused, ExposureReached, claimRefusalAnswer } from "./errors.ts"
export {
  type Handed,
  type NeighbourSettler,
  type SettlerDoor,
  SettlerNextDoor,
  settlerNextDoor
} from "./NeighbourSettler.ts"
export type { PayerName } from "./PayerBook.ts"
export type { AskFunds } from "./Reservations.ts"
export { sweepClaims, type SweepOptions } from "./sweep.ts"
export type { Call } from "./take-claim.ts"
