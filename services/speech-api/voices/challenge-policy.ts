/** The rules of consent challenges: which names are taken, and what a challenge is good for. Pure. */
import { fullNameBytesMax } from "#contracts"
import { amended, validationFailed, type WireError } from "#http"
import type { ChallengeRecord } from "./records.ts"

/** A name that is too long is refused with its measured length. */
export const faultOfFullName = (fullName: string): WireError | undefined => {
  const bytes = Buffer.byteLength(fullName)
  if (bytes > fullNameBytesMax) {
    const fault = `is ${bytes} bytes of UTF-8, at most ${fullNameBytesMax} are taken`
    const details = { full_name_bytes: bytes, full_name_bytes_max: fullNameBytesMax }
    return amended(validationFailed({ full_name: fault }), { details })
  }
  const fault = faultOfName(fullName)
  return fault === undefined ? undefined : validationFailed({ full_name: fault })
}

/** What is wrong with a person's name, whatever its length. */
export const faultOfName = (name: string): string | undefined => {
  if (!name.isWellFormed()) return "holds half a character"
  if (/\p{Cc}/u.test(name)) return "holds a control character"
  return /^[\p{White_Space}\p{Cf}\u{115F}\u{1160}\u{3164}]*$/u.test(name) ? "is blank" : undefined
}

export type Standing = "open" | "resumed" | "used" | "expired"

/**
 * `by` names the create that asks, when it can be known again: one that was cut off by a fault of ours may go on
 * with the challenge that it had already used up.
 */
export const standingOf = (
  { used, expiresAt }: Pick<ChallengeRecord, "used" | "expiresAt">,
  by: string | null,
  nowMs: number
): Standing => {
  if (used !== null) return by !== null && used.by === by ? "resumed" : "used"
  return nowMs >= Date.parse(expiresAt) ? "expired" : "open"
}
