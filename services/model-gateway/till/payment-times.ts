/**
 * Whether a payment lasts until its answer can be paid for, and until when it must be collected at the latest. Pure.
 * On EVM chains a payment says when it ends. On Solana it ends with its blockhash, a minute after that was made,
 * and nobody tells when that was: what is not whole by then is paid for while it is still being given out.
 */
import { Result, Schema } from "effect"
import { type AnswerKind, ExactEvmPayload, type ModelGateway, type PaymentPayload, type Payments } from "#contracts"

/** Between the answer's end and the payment's: settling, and chains that are slow. */
const settleMarginMs = 30_000
/** Clients count from their own clocks, and lose time between signing and sending. */
const clientSlackMs = 60_000
/** A blockhash is good for some 60 s; clients take one that is up to half of that old. */
const solanaLifeMs = 30_000
/** As long as the verifier lets a Solana payment be at the most, counted from its check. */
const solanaWindowMs = 90_000

type Limits = Pick<ModelGateway, "FirstByteSeconds" | "StreamSeconds">

/**
 * How long from now a payment must be good for; never more than a fresh one is. A stream that its provider did not begin
 * in time is told so after FirstByteSeconds, and may be asked for once more with the same payment: that time is spared.
 * One that goes on for longer than its payment then is settled while it is given out.
 */
export const neededMs = (
  limits: Limits,
  { MaxTimeoutSeconds }: Pick<Payments, "MaxTimeoutSeconds">,
  kind: AnswerKind
) => {
  const freshMs = Math.max(0, MaxTimeoutSeconds * 1_000 - clientSlackMs)
  const firstByteMs = limits.FirstByteSeconds * 1_000
  const wholeMs = Math.min(firstByteMs + settleMarginMs, freshMs)
  if (kind === "whole") return wholeMs
  return Math.max(wholeMs, Math.min(limits.StreamSeconds * 1_000 + settleMarginMs, freshMs - firstByteMs))
}

const decodeEvm = Schema.decodeUnknownResult(ExactEvmPayload)

/** As the payer has written it; undefined where the payment does not say, or is none. */
export const validBeforeMsOf = (payload: PaymentPayload): number | undefined => {
  if (!payload.accepted.network.startsWith("eip155:")) return undefined
  const decoded = decodeEvm(payload.payload)
  return Result.isSuccess(decoded) ? Number(decoded.success.authorization.validBefore) * 1_000 : undefined
}

/** The last moment at which a payment is surely still to be had. */
export const collectByMs = (network: string, validBeforeMs: number): number =>
  network.startsWith("solana:") ? validBeforeMs - solanaWindowMs + solanaLifeMs : validBeforeMs - settleMarginMs
