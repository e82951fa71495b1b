/**
 * Whole answers, kept from before their payment is asked for until a day after it could be used: nobody gets one
 * unpaid, and who has paid for one that was lost on the way is given it again. By the claim; with what it answers.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, Objects, parseJson, Kv } from "#bus"
import type { PayerName } from "#x402"

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
        yield* objects.putWhole(store, nameOf(claimKey), Buffer.concat([head, body]))
      })
      const find = Effect.fn("PaidAnswers.find")(function* (claimKey: string) {
        const parts = yield* Stream.runCollect(objects.get(store, nameOf(claimKey))).pipe(
          Effect.catchTag("BusNotFound", () => Effect.succeed<Array<Uint8Array>>([]))
        )
        return readAnswer(Buffer.concat(parts))
      })
      return PaidAnswers.of({ keep, find })
    })
  )
}

const nameOf = (claimKey: string) => createHash("sha256").update(claimKey).digest("hex")

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
export interface PaidJob extends Schema.Schema.Type<typeof PaidJob> {}

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
