/** The image jobs of paid calls, by their payment. */
import { hash } from "node:crypto"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { type BusError, Kv, records, replaced } from "#bus"

/**
 * The image job for which a payment was taken, written before any provider is called. A caller that sends the payment
 * again can get the job from any replica. Stored as long as the job itself.
 */
export const PaidJob = Schema.Struct({
  jobId: Schema.String,
  /** The life of the claim for which the job was taken. A payment that was released can be taken for another job. */
  ticket: Schema.String
})

export interface PaidJob extends Schema.Schema.Type<typeof PaidJob> {}

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
