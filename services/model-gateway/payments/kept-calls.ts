/**
 * What is stored about paid calls, and which callers get it. A complete answer is stored from before its payment is
 * requested until a day after that payment could last be used: no caller gets an answer unpaid, and a payer whose
 * answer was lost on the way gets it again.
 *
 * A caller that repeats exactly the same call, because its answer was lost or is still being made, must never be asked
 * to pay again. An image identifies itself; any other call needs a name (`payment-identifier`), unless the gateway that
 * held it is gone: then the payment and the request themselves identify the call. Any other second use of a payment is
 * refused as used.
 */
import { setNewest } from "#base"
import { hash } from "node:crypto"
import { Context, Duration, Effect, Layer, Option, Result, Schedule, Schema } from "effect"
import { type BusError, kept, Kv, type Mailbox, Objects, parseJson, records, replaced } from "#bus"
import type { PaymentPayload } from "#payments/contract"
import { type Claim, type Claims, type PayerName, paymentIdentifier, type SettledPayment } from "#payments"

const store = "paid-answers"

const Label = Schema.Struct({
  /** The client's name for the call. */
  identifier: Schema.NullOr(Schema.String),
  binding: Schema.String
})
interface Label extends Schema.Schema.Type<typeof Label> {}

export interface PaidAnswer {
  readonly label: Label
  readonly body: Uint8Array
}

const decodeLabel = Schema.decodeUnknownResult(Label)
const utf8 = new TextEncoder()
const lineFeed = 10

export class PaidAnswers extends Context.Service<
  PaidAnswers,
  {
    readonly keep: (claimKey: string, answer: PaidAnswer) => Effect.Effect<void, BusError>
    readonly find: (claimKey: string) => Effect.Effect<Option.Option<PaidAnswer>, BusError>
  }
>()("starling/model-gateway/PaidAnswers") {
  static readonly layer = Layer.effect(
    PaidAnswers,
    Effect.gen(function* () {
      const objects = yield* Objects
      const keep = Effect.fnUntraced(function* (claimKey: string, { label, body }: PaidAnswer) {
        const head = utf8.encode(`${JSON.stringify(label)}\n`)
        yield* objects.putBytes(store, objectNameOf(claimKey), Buffer.concat([head, body]))
      })
      const find = Effect.fn("PaidAnswers.find")(function* (claimKey: string) {
        const kept = yield* objects.getBytes(store, objectNameOf(claimKey))
        return Option.flatMap(kept, readAnswer)
      })
      return PaidAnswers.of({ keep, find })
    })
  )
}

const objectNameOf = (claimKey: string) => hash("sha256", claimKey, "hex")

const readAnswer = (bytes: Uint8Array): Option.Option<PaidAnswer> => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return Option.none()
  const label = Result.flatMap(parseJson(bytes.subarray(0, end)), (json) => decodeLabel(json))
  return Result.isSuccess(label) ? Option.some({ label: label.success, body: bytes.subarray(end + 1) }) : Option.none()
}

/**
 * The image job for which a payment was taken, written before any provider is called. A caller that sends the payment
 * again can get the job from any replica. Stored as long as the job itself.
 */
const PaidJob = Schema.Struct({
  jobId: Schema.String,
  /** The life of the claim for which the job was taken. A payment that was released can be taken for another job. */
  ticket: Schema.String
})
interface PaidJob extends Schema.Schema.Type<typeof PaidJob> {}

export class PaidJobs extends Context.Service<
  PaidJobs,
  {
    readonly put: (claimKey: string, job: PaidJob) => Effect.Effect<void, BusError>
    readonly find: (claimKey: string) => Effect.Effect<Option.Option<PaidJob>, BusError>
  }
>()("starling/model-gateway/PaidJobs") {
  static readonly layer = Layer.effect(
    PaidJobs,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("image-jobs", PaidJob)
      const find = (claimKey: string) =>
        Effect.map(
          bucket.get(keyOf(claimKey)),
          Option.map(({ value }) => value)
        )
      const jobs = records(bucket)
      const put = (claimKey: string, job: PaidJob) => Effect.asVoid(jobs.change(keyOf(claimKey), () => replaced(job)))
      return PaidJobs.of({ put, find })
    })
  )
}

const keyOf = (claimKey: string) => `paid.${hash("sha256", claimKey, "hex")}`

const NamedCall = Schema.Struct({ claimKey: Schema.String, binding: Schema.String })

/** Clients' own names for their calls (`payment-identifier`): each names one payment of one payer, for a day. */
export class CallNames extends Context.Service<
  CallNames,
  {
    /** False if the name belongs to another payment or another request. */
    readonly take: (
      payer: PayerName,
      identifier: string,
      call: typeof NamedCall.Type
    ) => Effect.Effect<boolean, BusError>
  }
>()("starling/model-gateway/CallNames") {
  static readonly layer = Layer.effect(
    CallNames,
    Effect.gen(function* () {
      const calls = records(yield* (yield* Kv).open("idempotency", NamedCall))
      const take = Effect.fn("CallNames.take")(function* (
        { network, payer }: PayerName,
        identifier: string,
        call: typeof NamedCall.Type
      ) {
        const digest = hash("sha256", JSON.stringify([network, payer, identifier]), "hex")
        const key = `payment-identifier.${digest}`
        const { value: first } = yield* calls.change(key, (before) =>
          before === undefined ? replaced(call) : kept(before)
        )
        return first?.claimKey === call.claimKey && first.binding === call.binding
      })
      return CallNames.of({ take })
    })
  )
}

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

const goodFor = Duration.seconds(5)
// Gateways seen dead or alive between two restarts of this one; the oldest entry is dropped first.
const namesMax = 256

/**
 * Whether the gateway that held a payment is gone, and with it perhaps an answer that was paid for. A running gateway
 * sends its answers itself. Results are cached for a moment, so that a storm of replays asks the broker once.
 */
export const lostHolders = ({ instance, isThere }: Pick<Mailbox["Service"], "instance" | "isThere">) => {
  const known = new Map<string, Effect.Effect<boolean>>()
  const look = Effect.fnUntraced(function* (holder: string) {
    // Not interruptible: other calls wait for the same answer.
    const looking = yield* Effect.cachedWithTTL(Effect.uninterruptible(isThere(holder)), goodFor)
    setNewest(known, holder, looking, namesMax)
    return looking
  })
  /** False if the broker cannot tell. */
  const isLost = Effect.fnUntraced(function* (holder: string | undefined) {
    if (holder === undefined || holder === instance) return false
    return !(yield* known.get(holder) ?? (yield* look(holder)))
  })
  return isLost
}
