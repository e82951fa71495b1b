/** `payments.verify`: the gateway asks whether a call is paid for, and a verifier claims the payment for it. */
import { Schema } from "effect"
import { Count, EpochMs, text } from "../primitives.ts"
import { AtomicAmount, ChainAddress, ClaimKey, InstanceName, Network, ReasonText, Sha256Hex } from "./primitives.ts"
import { PaymentPayload, PaymentRequirements } from "./x402.ts"

export const paymentCodes = [
  "PAYMENT_INVALID",
  "PAYMENT_UNFUNDED",
  "PAYMENT_BLOCKHASH_STALE",
  "PAYMENT_REPLAY"
] as const

/**
 * Why a payment is refused. The code tells a client what to do: sign again, pay more, take a newer blockhash or a fresh
 * nonce.
 */
export const PaymentCode = Schema.Literals(paymentCodes)
export type PaymentCode = (typeof paymentCodes)[number]

/** How the answer is given: whole after the payment, or as a stream that is paid for at its end. */
export const AnswerKind = Schema.Literals(["whole", "stream"])
export type AnswerKind = Schema.Schema.Type<typeof AnswerKind>

/** The call that a payment is claimed for. */
const call = {
  /** SHA-256 over method, path and body. */
  binding: Sha256Hex,
  kind: AnswerKind,
  /** The gateway's instance. */
  holder: InstanceName,
  /** Drawn once for this call: a repeat with the same ticket is the same question and does not collide with itself. */
  ticket: InstanceName,
  /** The model that is asked. Absent where a server of somebody else has the payment settled. */
  model: Schema.optionalKey(text(256))
}

export const VerifyRequest = Schema.Struct({ payload: PaymentPayload, requirements: PaymentRequirements, ...call })
export interface VerifyRequest extends Schema.Schema.Type<typeof VerifyRequest> {}

/**
 * A claim as it was last written, without the payment itself, which the receiver already has: enough to move the claim
 * on without reading it. The next write names `revision`, and fails when another write came first.
 */
export const ClaimFacts = Schema.Struct({
  ...call,
  revision: Count,
  network: Network,
  asset: ChainAddress,
  payer: ChainAddress,
  payTo: ChainAddress,
  amount: AtomicAmount,
  /** The number of writes in this life of the claim, which begins whenever a call takes it. */
  moves: Count,
  validBeforeMs: EpochMs,
  claimedAtMs: EpochMs
})
export interface ClaimFacts extends Schema.Schema.Type<typeof ClaimFacts> {}

export const VerifyAnswer = Schema.Union([
  /** The payment is good and claimed for this call. */
  Schema.TaggedStruct("Verified", { claimKey: ClaimKey, claim: ClaimFacts }),
  Schema.TaggedStruct("Refused", {
    code: PaymentCode,
    reason: ReasonText,
    payer: Schema.NullOr(ChainAddress),
    detail: Schema.optionalKey(text(1_024)),
    /**
     * The claim that makes the payment a replay. A payer that asks again for a lost answer may be given that answer.
     */
    claimKey: Schema.optionalKey(ClaimKey),
    /** The holder of that claim: a gateway that may have died with the answer. */
    holder: Schema.optionalKey(InstanceName)
  }),
  /**
   * Not now; the same payment may be sent again. Either nobody can tell yet or, where `why` says so, the payer's other
   * calls in progress take up its money or its limit.
   */
  Schema.TaggedStruct("Unavailable", {
    retryAfterSeconds: Count,
    reason: ReasonText,
    why: Schema.optionalKey(Schema.Literal("exposure"))
  })
])
export type VerifyAnswer = Schema.Schema.Type<typeof VerifyAnswer>
