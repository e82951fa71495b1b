/**
 * Images that are being made or were made: one entry each, for a day, found by any replica. The pictures are an
 * object beside it. One that its maker never ended counts as failed once it cannot be in work any more.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Effect, Layer, Option, Schema, Stream, Result } from "effect"
import { type BusError, Kv, Objects } from "#bus"
import type { ImageJob } from "#contracts"
import { isRecord, recordsAt } from "../translate/json.ts"

const JobEntry = Schema.Struct({
  model: Schema.String,
  createdAtMs: Schema.Int,
  /** Past it nobody is at work on it any more. */
  deadlineMs: Schema.Int,
  status: Schema.Literals(["in_progress", "completed", "failed"]),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
export interface JobEntry extends Schema.Schema.Type<typeof JobEntry> {}

const imageJobsBucket = "image-jobs"
const imageAnswersStore = "image-answers"

type JobError = NonNullable<JobEntry["error"]>

export interface FoundJob {
  readonly id: string
  readonly entry: JobEntry
  /** JSON of the images, once they are there. */
  readonly answer: Uint8Array | undefined
}

const idPattern = /^img_[0-9a-f]{32}$/u

/** Nobody can guess it. */
export const newImageJobId = (): string => `img_${randomUUID().replaceAll("-", "")}`

export class ImageJobs extends Context.Service<
  ImageJobs,
  {
    readonly open: (id: string, model: string, workMs: number) => Effect.Effect<JobEntry, BusError>
    readonly complete: (id: string, answer: Uint8Array) => Effect.Effect<void, BusError>
    readonly fail: (id: string, error: JobError) => Effect.Effect<void, BusError>
    readonly find: (id: string) => Effect.Effect<Option.Option<FoundJob>, BusError>
  }
>()("starling/model-gateway/ImageJobs") {
  static readonly layer = Layer.effect(
    ImageJobs,
    Effect.gen(function* () {
      const bucket = yield* (yield* Kv).open(imageJobsBucket, JobEntry)
      const objects = yield* Objects

      const open = Effect.fn("ImageJobs.open")(function* (id: string, model: string, workMs: number) {
        const nowMs = yield* Clock.currentTimeMillis
        const entry: JobEntry = {
          model,
          createdAtMs: nowMs,
          deadlineMs: nowMs + workMs,
          status: "in_progress",
          error: null
        }
        yield* bucket.create(id, entry)
        return entry
      })
      const end = Effect.fnUntraced(function* (id: string, status: JobEntry["status"], error: JobError | null) {
        const found = yield* bucket.get(id)
        if (Option.isNone(found)) return
        yield* bucket.update(id, { ...found.value.value, status, error }, found.value.revision)
      })
      const complete = Effect.fn("ImageJobs.complete")(function* (id: string, answer: Uint8Array) {
        yield* objects.put(imageAnswersStore, id, Stream.make(answer))
        yield* end(id, "completed", null)
      })
      const find = Effect.fn("ImageJobs.find")(function* (id: string) {
        if (!idPattern.test(id)) return Option.none<FoundJob>()
        const found = yield* bucket.get(id)
        if (Option.isNone(found)) return Option.none<FoundJob>()
        const { value: entry } = found.value
        if (entry.status !== "completed") return Option.some<FoundJob>({ id, entry, answer: undefined })
        const parts = yield* Stream.runCollect(objects.get(imageAnswersStore, id))
        return Option.some<FoundJob>({ id, entry, answer: Buffer.concat(parts) })
      })
      return ImageJobs.of({ open, complete, fail: (id, error) => end(id, "failed", error), find })
    })
  )
}

const lost = {
  code: "TIMEOUT",
  message: "The image was not made in time; send the same payment again, which is charged once at the most"
}

/** An image job as its caller sees it. Pure. */
export const jobBody = ({ id, entry, answer }: FoundJob, nowMs: number, pollUrl: string): ImageJob => {
  const isLost = entry.status === "in_progress" && nowMs > entry.deadlineMs
  const status = isLost ? "failed" : entry.status
  const error = isLost ? lost : entry.error
  return {
    id,
    object: "image.generation.job",
    status,
    model: entry.model,
    created: Math.floor(entry.createdAtMs / 1_000),
    poll_url: pollUrl,
    ...(answer === undefined ? {} : { data: imagesOf(answer) }),
    ...(error === null ? {} : { error })
  }
}

const imagesOf = (answer: Uint8Array) => {
  const parsed = Result.getOrUndefined(Result.try(() => JSON.parse(Buffer.from(answer).toString("utf8")) as unknown))
  return isRecord(parsed) ? recordsAt(parsed, "data") : []
}
