/**
 * A claim that was refused as the verifier's answer. Pure. A payer whose other calls take up its money is not refused but
 * asked to come back with the same payment: two calls at once are no fault.
 */
import type { VerifyAnswer } from "#contracts"
import type { ClaimRefused } from "./errors.ts"

// Most calls end within seconds, and nobody knows which one is next.
const retryAfterSeconds = 1

export const claimRefusalAnswer = (refused: ClaimRefused): Exclude<VerifyAnswer, { readonly _tag: "Verified" }> => {
  if (refused.why === "exposure")
    return { _tag: "Unavailable", why: "exposure", retryAfterSeconds, reason: refused.reason }
  const answer = { _tag: "Refused", code: refused.code, reason: refused.reason, payer: refused.payer } as const
  if (refused.why !== "replay") return answer
  const { claimKey, holder } = refused
  return { ...answer, claimKey, ...(holder === undefined ? {} : { holder }) }
}
