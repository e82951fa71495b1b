/**
 * What becomes of a call whose payment was used before. Who sends the very same call again, because its answer was lost
 * or is still being made, must never be told to pay anew: an image is its own name, any other call needs one
 * (`payment-identifier`), unless the gateway that had it is gone: then the payment and the request themselves are name
 * enough. Everybody else has used a payment twice.
 */
import { Duration, Effect, Option, Result, Schedule, Schema } from "effect"
import type { BusError, Mailbox } from "#bus"
import { claimKeyOf, ExactEvmPayload, type PaymentPayload, type PaymentRequirements } from "#contracts"
import { type Claim, type Claims, paymentIdentifier, type SettledPayment } from "#x402"
import type { PaidAnswer, PaidAnswers, PaidJob, PaidJobs } from "./KeptCalls.ts"

type ReplayedCall =
  /** Nothing speaks for who sent it. */
  | { readonly _tag: "Used" }
  /** The call's name stands for another request. */
  | { readonly _tag: "NameTaken" }
  /** The payment is free again: the same one can be sent. */
  | { readonly _tag: "Free" }
  | { readonly _tag: "Answering" }
  | { readonly _tag: "Settling" }
  /** An image: its job says how far it is. */
  | { readonly _tag: "Making"; readonly jobId: string }
  | ({ readonly _tag: "Paid"; readonly answer: Uint8Array } & SettledPayment)

export interface ReplayFacts {
  readonly isImage: boolean
  /** The gateway that held the payment is gone: nobody knows whether it gave its answer out. */
  readonly isHolderLost: boolean
  readonly identifier: string | null
  readonly binding: string
  readonly record: Claim["record"] | undefined
  readonly answer: PaidAnswer | undefined
  readonly job: PaidJob | undefined
}

const used: ReplayedCall = { _tag: "Used" }

/** Pure. */
export const replayedCall = (facts: ReplayFacts): ReplayedCall => {
  const { isImage, isHolderLost, identifier, binding, record, answer, job } = facts
  const needsNoName = isImage || isHolderLost
  if (record === undefined || (identifier === null && !needsNoName)) return used
  // An answer may have been kept in an earlier life of the claim.
  const kept = answer?.label.binding === record.binding ? answer : undefined
  const name = record.payment === null ? (kept?.label.identifier ?? null) : nameOf(record.payment.payload)
  const isSameName = identifier !== null && name === identifier
  if (isSameName && record.binding !== binding) return { _tag: "NameTaken" }
  // Whoever named a call is asked for that name.
  const isUnnamed = identifier === null && (isImage || (isHolderLost && name === null))
  const isSame = record.binding === binding && (isSameName || isUnnamed)
  // What was given out of a stream is not kept.
  if (!isSame || record.kind === "stream") return used
  switch (record.state) {
    case "RELEASED":
      return { _tag: "Free" }
    case "UNCOLLECTED":
      return used
    case "SETTLED": {
      const { network, payer, transactions } = record
      const transaction = transactions.at(-1)
      if (kept === undefined || transaction === undefined) return used
      return { _tag: "Paid", answer: kept.body, transaction, network, payer }
    }
    case "CLAIMED":
    case "SERVING":
    case "SETTLING":
      if (isImage && job?.ticket === record.ticket) return { _tag: "Making", jobId: job.jobId }
      return record.state === "SETTLING" ? { _tag: "Settling" } : { _tag: "Answering" }
  }
}

/** Where a used payment's claim, answer and job are kept. */
export interface KeptCalls {
  readonly claims: Pick<Claims["Service"], "read">
  readonly answers: PaidAnswers["Service"]
  readonly jobs: PaidJobs["Service"]
}

type Asked = Pick<ReplayFacts, "isImage" | "isHolderLost" | "identifier" | "binding"> & { readonly claimKey: string }

/** Looks at all that is kept of a used payment. */
export const keptCall = Effect.fnUntraced(function* (
  { claims, answers, jobs }: KeptCalls,
  { claimKey, ...asked }: Asked
): Effect.fn.Return<ReplayedCall, BusError> {
  const looked = { answer: answers.find(claimKey), claim: endSoon(claims, claimKey), job: jobs.find(claimKey) }
  const { answer, claim, job } = yield* Effect.all(looked, { concurrency: 3 })
  return replayedCall({
    ...asked,
    record: Option.getOrUndefined(claim)?.record,
    answer: Option.getOrUndefined(answer),
    job: Option.getOrUndefined(job)
  })
})

/** An answer goes out when the chain has its payment, a moment before that is written down. */
const endSoon = (claims: KeptCalls["claims"], claimKey: string) =>
  Effect.repeat(claims.read(claimKey), {
    schedule: Schedule.spaced("50 millis"),
    times: 5,
    while: (found) => Option.isSome(found) && found.value.record.state === "SETTLING"
  })

const nameOf = (payload: PaymentPayload) => Result.getOrElse(paymentIdentifier(payload), () => null)

const decodeEvm = Schema.decodeUnknownResult(ExactEvmPayload)

/** The claim of a payment that is not shown to a verifier; undefined where only a verifier can tell. */
export const claimKeyFor = ({ payload }: PaymentPayload, { network, asset }: PaymentRequirements) => {
  if (!network.startsWith("eip155:")) return undefined
  const decoded = decodeEvm(payload)
  if (Result.isFailure(decoded)) return undefined
  const { from, nonce } = decoded.success.authorization
  return claimKeyOf({ network, asset, payer: from, nonce })
}

// Who has died is asked for by clients that come back within seconds.
const goodFor = Duration.seconds(5)
// Gateways that were, between two restarts of this one; forgotten oldest first.
const namesMax = 256

/**
 * Whether the gateway that held a payment is gone, and with it perhaps an answer that was paid for. A process that is
 * there gives its answers out itself. What was found is good for a moment: a storm of replays asks the broker once.
 */
export const lostHolders = ({ instance, isThere }: Pick<Mailbox["Service"], "instance" | "isThere">) => {
  const known = new Map<string, Effect.Effect<boolean>>()
  const look = Effect.fnUntraced(function* (holder: string) {
    // Not to be interrupted: others wait for the same answer.
    const looking = yield* Effect.cachedWithTTL(Effect.uninterruptible(isThere(holder)), goodFor)
    known.set(holder, looking)
    const [oldest] = known.keys()
    if (known.size > namesMax && oldest !== undefined) known.delete(oldest)
    return looking
  })
  /** False where nobody knows. */
  const isLost = Effect.fnUntraced(function* (holder: string | undefined) {
    if (holder === undefined || holder === instance) return false
    return !(yield* known.get(holder) ?? (yield* look(holder)))
  })
  return isLost
}
