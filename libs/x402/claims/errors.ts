/** Why a claim fails: by the payer's doing, or by another mover. The bus's own errors stand beside these. */
import { Schema } from "effect"
import type { PaymentCode, VerifyAnswer } from "#contracts"
import { reason } from "../errors.ts"

/**
 * The payment is not accepted for this call. `replay`: it is used already. `exposure`: the payer's other calls, which
 * have not ended, take up its money or its limit; the same payment may be sent again once they have. `unfunded`: the
 * payer holds less than this one call costs. `denied`: one of its payments could not be collected.
 */
export class ClaimRefused extends Schema.TaggedError<ClaimRefused>()("ClaimRefused", {
  why: Schema.Literals(["replay", "exposure", "unfunded", "denied"]),
  claimKey: Schema.String,
  payer: Schema.String,
  /** The holder of a replayed payment's claim, where it was read. */
  holder: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the payment is not taken: ${this.why}`
  }
  /** The code that the client gets. */
  get code(): PaymentCode {
    if (this.why === "unfunded") return "PAYMENT_UNFUNDED"
    return this.why === "replay" ? "PAYMENT_REPLAY" : "PAYMENT_INVALID"
  }
  get reason(): string {
    if (this.why === "replay") return reason.nonceUsed
    if (this.why === "unfunded") return reason.unfunded
    return this.why === "exposure" ? reason.exposure : reason.denied
  }
}

/** The claim is no longer ours to move: its lease ended, or it is further along. `state` null: it is gone. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {
  claimKey: Schema.String,
  move: Schema.String,
  state: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `could not ${this.move} a claim that is ${this.state ?? "gone"}`
  }
}

/** The payer already has as many unpaid answers as it may have. */
export class ExposureReached extends Schema.TaggedError<ExposureReached>()("ExposureReached", {
  payer: Schema.String
}) {
  override get message() {
    return `${this.payer} has answers that are not paid for yet`
  }
}

// Most calls end within seconds, and nobody knows which one is next.
const retryAfterSeconds = 1

/**
 * A refused claim as the verifier's answer. A payer whose other calls take up its money is not refused but asked to
 * come back with the same payment: two calls at once are no fault.
 */
export const claimRefusalAnswer = (refused: ClaimRefused): Exclude<VerifyAnswer, { readonly _tag: "Verified" }> => {
  if (refused.why === "exposure")
    return { _tag: "Unavailable", why: "exposure", retryAfterSeconds, reason: refused.reason }
  const answer = { _tag: "Refused", code: refused.code, reason: refused.reason, payer: refused.payer } as const
  if (refused.why !== "replay") return answer
  const { claimKey, holder } = refused
  return { ...answer, claimKey, ...(holder === undefined ? {} : { holder }) }
}
