/**
 * A caller that repeats exactly the same call, because its answer was lost or is still being made, must never be asked
 * to pay again. An image identifies itself; any other call needs a name (`payment-identifier`), unless the gateway that
 * held it is lost: then the payment and the request themselves identify the call. Any other second use of a payment is
 * refused as used.
 */
import { Effect, Option, Result, Schedule } from "effect"
import type { BusError } from "#bus"
import type { PaymentPayload } from "#payments/contract"
import { type Claim, type Claims, paymentIdentifier, type SettledPayment } from "#payments"
import type { PaidAnswer, PaidAnswers } from "./PaidAnswers.ts"
import type { PaidJob, PaidJobs } from "./PaidJobs.ts"

type ReplayedCall =
  /** Nothing shows that the caller sent the first call. */
  | { readonly _tag: "Used" }
  /** The name belongs to another request. */
  | { readonly _tag: "NameTaken" }
  /** The payment was released: the same one can be sent again. */
  | { readonly _tag: "Free" }
  | { readonly _tag: "Answering" }
  | { readonly _tag: "Settling" }
  /** An image in progress: its job shows its status. */
  | { readonly _tag: "Making"; readonly jobId: string }
  | ({ readonly _tag: "Paid"; readonly answer: Uint8Array } & SettledPayment)

export interface ReplayFacts {
  readonly isImage: boolean
  /** The gateway that held the payment is gone, and whether it sent its answer is unknown. */
  readonly isHolderLost: boolean
  readonly identifier: string | null
  readonly binding: string
  readonly record: Claim["record"] | undefined
  readonly answer: PaidAnswer | undefined
  readonly job: PaidJob | undefined
}

const used: ReplayedCall = { _tag: "Used" }

/** The answer to a call whose payment was used before. Pure. */
export const replayedCall = (facts: ReplayFacts): ReplayedCall => {
  const { isImage, isHolderLost, identifier, binding, record, answer, job } = facts
  const needsNoName = isImage || isHolderLost
  if (record === undefined || (identifier === null && !needsNoName)) return used
  // An earlier life of the claim may have left an answer.
  const kept = answer?.label.binding === record.binding ? answer : undefined
  const name = record.payment === null ? (kept?.label.identifier ?? null) : nameOf(record.payment.payload)
  const isSameName = identifier !== null && name === identifier
  if (isSameName && record.binding !== binding) return { _tag: "NameTaken" }
  // A call that was named must repeat its name.
  const isUnnamed = identifier === null && (isImage || (isHolderLost && name === null))
  const isSame = record.binding === binding && (isSameName || isUnnamed)
  // A stream is not stored once it has been sent.
  if (!isSame || record.kind === "stream") return used
  switch (record.state) {
    case "RELEASED":
      return { _tag: "Free" }
    case "UNCOLLECTED":
      return used
    case "SETTLED": {
      const { network, payer, transactions, charge } = record
      const transaction = transactions.at(-1) ?? null
      if (kept === undefined || (transaction === null && charge !== "0")) return used
      const charged = charge === undefined ? {} : { amount: charge }
      return { _tag: "Paid", answer: kept.body, transaction, network, payer, ...charged }
    }
    case "CLAIMED":
    case "SERVING":
    case "SETTLING":
      if (isImage && job?.ticket === record.ticket) return { _tag: "Making", jobId: job.jobId }
      return record.state === "SETTLING" ? { _tag: "Settling" } : { _tag: "Answering" }
  }
}

/** Where a used payment's claim, answer and job are stored. */
export interface KeptCalls {
  readonly claims: Pick<Claims["Service"], "read">
  readonly answers: PaidAnswers["Service"]
  readonly jobs: PaidJobs["Service"]
}

type ReplayedPayment = Pick<ReplayFacts, "isImage" | "isHolderLost" | "identifier" | "binding"> & {
  readonly claimKey: string
}

/** Collects everything stored about a used payment. */
export const keptCall = Effect.fnUntraced(function* (
  { claims, answers, jobs }: KeptCalls,
  { claimKey, ...payment }: ReplayedPayment
): Effect.fn.Return<ReplayedCall, BusError> {
  const kept = { answer: answers.find(claimKey), claim: endSoon(claims, claimKey), job: jobs.find(claimKey) }
  const { answer, claim, job } = yield* Effect.all(kept, { concurrency: 3 })
  return replayedCall({
    ...payment,
    record: Option.getOrUndefined(claim)?.record,
    answer: Option.getOrUndefined(answer),
    job: Option.getOrUndefined(job)
  })
})

/** An answer is sent when the chain has its payment, a moment before the claim shows it; this waits for the claim. */
const endSoon = (claims: KeptCalls["claims"], claimKey: string) =>
  Effect.repeat(claims.read(claimKey), {
    schedule: Schedule.spaced("50 millis"),
    times: 5,
    while: (found) => Option.isSome(found) && found.value.record.state === "SETTLING"
  })

const nameOf = (payload: PaymentPayload) => Result.getOrElse(paymentIdentifier(payload), () => null)
