/** One payment, one call. */
export { Claims, type ClaimOptions, claimOptionsOf, sweepTimesOf } from "./Claims.ts"
export { claimOfJob, factsOf, toBeSettled, verifiedClaim, settlementJobCodec } from "./settlement-job.ts"
export type { Claim } from "./ClaimStore.ts"
export { ClaimMove, ClaimRecord, type ClaimState, type SweepTimes } from "./claim.ts"
export { type PayerRecord, isGivenOut } from "./PayerBook.ts"
export { ClaimLost, ClaimRefused, ExposureReached, claimRefusalAnswer } from "./errors.ts"
export {
  type LocalSettlement,
  LocalSettlers,
  localSettlers,
  type NotCommitted,
  outcomeOfClaim,
  type RequestedSettlement,
  Settlements
} from "./Settlements.ts"
export type { PayerName } from "./PayerBook.ts"
export type { AskFunds } from "./take-claim.ts"
export { sweepClaims, type SweepOptions } from "./sweep.ts"
export type { Call } from "./take-claim.ts"
