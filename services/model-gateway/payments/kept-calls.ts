/**
 * What is kept of paid calls, and who is given it. Whole answers are kept from before their payment is asked for until a
 * day after it could be used: nobody gets one unpaid, and who has paid for one that was lost on the way is given it again.
 *
 * Who sends the very same call again, because its answer was lost or is still being made, must never be told to pay anew:
 * an image is its own name, any other call needs one (`payment-identifier`), unless the gateway that had it is gone: then
 * the payment and the request themselves are name enough. Everybody else has used a payment twice.
 */
import { createHash } from "node:crypto"
import { Context, Duration, Effect, Layer, Option, Result, Schedule, Schema, Stream } from "effect"
import { type BusError, Kv, type Mailbox, Objects, parseJson } from "#bus"
import { claimKeyOf, ExactEvmPayload, type PaymentPayload, type PaymentRequirements } from "#contracts"
import { type Claim, type Claims, type PayerName, paymentIdentifier, type SettledPayment } from "#x402"

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
        yield* objects.putWhole(store, objectNameOf(claimKey), Buffer.concat([head, body]))
      })
      const find = Effect.fn("PaidAnswers.find")(function* (claimKey: string) {
        const parts = yield* Stream.runCollect(objects.get(store, objectNameOf(claimKey))).pipe(
          Effect.catchTag("BusNotFound", () => Effect.succeed<Array<Uint8Array>>([]))
        )
        return readAnswer(Buffer.concat(parts))
      })
      return PaidAnswers.of({ keep, find })
    })
  )
}

const objectNameOf = (claimKey: string) => createHash("sha256").update(claimKey).digest("hex")

const readAnswer = (bytes: Buffer): Option.Option<PaidAnswer> => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return Option.none()
  const label = Result.flatMap(parseJson(bytes.subarray(0, end)), (json) => decodeLabel(json))
  return Result.isSuccess(label) ? Option.some({ label: label.success, body: bytes.subarray(end + 1) }) : Option.none()
}

const PaidJob = Schema.Struct({
  jobId: Schema.String,
  /** The life of the claim that it was taken in: a payment that was let go may be taken for another job. */
  ticket: Schema.String
})
/**
 * Which image job a payment was taken for, from before anybody is asked for the image: whoever sends the payment again
 * is told of the job, by any replica. As long as the job itself is kept.
 */
interface PaidJob extends Schema.Schema.Type<typeof PaidJob> {}

export class PaidJobs extends Context.Service<
  PaidJobs,
  {
    readonly note: (claimKey: string, job: PaidJob) => Effect.Effect<void, BusError>
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
      const note = Effect.fn("PaidJobs.note")(function* (claimKey: string, job: PaidJob) {
        const key = keyOf(claimKey)
        yield* bucket
          .create(key, job)
          .pipe(
            Effect.catchTag("RevisionConflict", () =>
              Effect.flatMap(bucket.get(key), (before) =>
                bucket.update(key, job, Option.isSome(before) ? before.value.revision : 0)
              )
            )
          )
      })
      return PaidJobs.of({ note, find })
    })
  )
}

const keyOf = (claimKey: string) => `paid.${createHash("sha256").update(claimKey).digest("hex")}`

const Named = Schema.Struct({ claimKey: Schema.String, binding: Schema.String })

/** Clients' own names for their calls (`payment-identifier`): each stands for one payment of one payer, for a day. */
export class CallNames extends Context.Service<
  CallNames,
  {
    /** False when the name stands for another payment or another request. */
    readonly take: (payer: PayerName, identifier: string, call: typeof Named.Type) => Effect.Effect<boolean, BusError>
  }
>()("starling/model-gateway/CallNames") {
  static readonly layer = Layer.effect(
    CallNames,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open("idempotency", Named)
      const take = Effect.fn("CallNames.take")(function* (
        { network, payer }: PayerName,
        identifier: string,
        call: typeof Named.Type
      ) {
        const digest = createHash("sha256")
          .update(JSON.stringify([network, payer, identifier]))
          .digest("hex")
        const key = `payment-identifier.${digest}`
        const isNew = yield* bucket.create(key, call).pipe(
          Effect.as(true),
          Effect.catchTag("RevisionConflict", () => Effect.succeed(false))
        )
        if (isNew) return true
        const found = Option.getOrUndefined(yield* bucket.get(key))?.value
        return found?.claimKey === call.claimKey && found.binding === call.binding
      })
      return CallNames.of({ take })
    })
  )
}

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

/** What a call is told whose payment was used before. Pure. */
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
