/**
 * Which image job a payment was taken for, from before anybody is asked for the image: whoever sends the payment again
 * is told of the job, by any replica. As long as the job itself is kept.
 */
import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv } from "#bus"

const PaidJob = Schema.Struct({
  jobId: Schema.String,
  /** The life of the claim that it was taken in: a payment that was let go may be taken for another job. */
  ticket: Schema.String
})
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
