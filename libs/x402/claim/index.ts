/** One payment, one call. */
export { Claims, type ClaimOptions } from "./Claims.ts"
export { claimOfJob, factsOf, toBeSettled, verifiedClaim } from "./claim-facts.ts"
export type { Claim } from "./ClaimStore.ts"
export { ClaimRecord, type ClaimState, type PayerRecord } from "./claim-record.ts"
export { ClaimLost, ClaimRefused, ExposureReached } from "./errors.ts"
export {
  type Handed,
  type NeighbourSettler,
  type SettlerDoor,
  SettlerNextDoor,
  settlerNextDoor
} from "./NeighbourSettler.ts"
export type { PayerName } from "./PayerBook.ts"
export { isGivenOut } from "./payer-policy.ts"
export type { AskFunds } from "./Reservations.ts"
export { keepAsking } from "./keep-asking.ts"
export { claimRefusalAnswer } from "./refusal-answer.ts"
export { claimOptionsOf, sweepTimesOf } from "./settings.ts"
export { settlementJobCodec } from "./settlement-job.ts"
export { sweepClaims, type SweepOptions } from "./ClaimSweeper.ts"
export type { SweepTimes } from "./sweep-policy.ts"
export type { Call } from "./take-claim.ts"
