/** Why a claim is not had: the payer's doing, or somebody else's move. The bus's own errors stand beside these. */
import { Schema } from "effect"
import type { PaymentCode, VerifyAnswer } from "#contracts"
import { reason } from "../errors.ts"

/**
 * The payment is not taken for this call. `replay`: it is used already. `exposure`: the payer's other calls, which have
 * not ended, are all that its money or its limit allows; the same payment may be sent again once they have. `unfunded`:
 * it holds less than this one call costs. `denied`: a payment of theirs was never to be had.
 */
export class ClaimRefused extends Schema.TaggedError<ClaimRefused>()("ClaimRefused", {
  why: Schema.Literals(["replay", "exposure", "unfunded", "denied"]),
  claimKey: Schema.String,
  payer: Schema.String,
  /** Of a replay: who has the claim, where that was read. */
  holder: Schema.optionalKey(Schema.String)
}) {
  override get message() {
    return `the payment is not taken: ${this.why}`
  }
  /** What a client is told. */
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

/** The claim is not ours to move any more: its lease ended, or it is further along. `state` null: it is gone. */
export class ClaimLost extends Schema.TaggedError<ClaimLost>()("ClaimLost", {
  claimKey: Schema.String,
  move: Schema.String,
  state: Schema.NullOr(Schema.String)
}) {
  override get message() {
    return `could not ${this.move} a claim that is ${this.state ?? "gone"}`
  }
}

/** The payer has as many answers that are not paid for as it may have. */
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
 * A claim that was refused as the verifier's answer. A payer whose other calls take up its money is not refused but asked
 * to come back with the same payment: two calls at once are no fault.
 */
export const claimRefusalAnswer = (refused: ClaimRefused): Exclude<VerifyAnswer, { readonly _tag: "Verified" }> => {
  if (refused.why === "exposure")
    return { _tag: "Unavailable", why: "exposure", retryAfterSeconds, reason: refused.reason }
  const answer = { _tag: "Refused", code: refused.code, reason: refused.reason, payer: refused.payer } as const
  if (refused.why !== "replay") return answer
  const { claimKey, holder } = refused
  return { ...answer, claimKey, ...(holder === undefined ? {} : { holder }) }
}
