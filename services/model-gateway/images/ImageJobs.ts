/**
 * Image jobs, in progress or ended: one entry each, kept for a day, available from any replica. The pictures are a
 * separate object. A job that its maker never ended counts as failed after its deadline.
 *
 * Images are made in the background of their call: one that takes long, or whose caller left, is still made, paid for
 * and stored, to be fetched by its job. Work ends with the role; a job that is cut off then has its payment released.
 */
import { randomUUID } from "node:crypto"
import { Clock, Context, Deferred, Effect, Exit, Layer, Option, Result, Schema, Stream } from "effect"
import { type BusError, kept, Kv, Objects, records, replaced } from "#bus"
import type { ImageJob } from "#gateway/api"
import { Configuration } from "#configuration"
import { Metrics } from "#runtime"
import type { GatewayFault } from "../errors/GatewayFault.ts"
import { imageJobs } from "../metrics.ts"
import { costCounter } from "../models/ModelRegistry.ts"
import { noUsage } from "../payments/charge.ts"
import { type PaidCall, type SettledCall, withinPayment } from "../payments/paid-call.ts"
import type { PaymentRefusal } from "../payments/replies.ts"
import { isRecord, type JsonObject, recordsAt } from "../translate/json.ts"
import { Upstreams } from "../upstream/Upstreams.ts"
import type { ImageCall } from "./answer-images.ts"

const JobEntry = Schema.Struct({
  model: Schema.String,
  createdAtMs: Schema.Int,
  /** After this time no process works on the job. */
  deadlineMs: Schema.Int,
  status: Schema.Literals(["in_progress", "completed", "failed"]),
  error: Schema.NullOr(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
interface JobEntry extends Schema.Schema.Type<typeof JobEntry> {}

const imageJobsBucket = "image-jobs"
const imageAnswersStore = "image-answers"

type JobError = NonNullable<JobEntry["error"]>

export interface FoundJob {
  readonly id: string
  readonly entry: JobEntry
  /** JSON of the images, once they exist. */
  readonly answer: Uint8Array | undefined
}

const idPattern = /^img_[0-9a-f]{32}$/u

/** Random, so that another caller's job cannot be guessed. */
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
      const end = (id: string, status: JobEntry["status"], error: JobError | null) =>
        Effect.asVoid(
          records(bucket).change(id, (before) =>
            before === undefined ? kept(before) : replaced({ ...before, status, error })
          )
        )
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

export interface MadeImages {
  readonly body: JsonObject
  readonly settled: SettledCall
}

type Failure = GatewayFault | PaymentRefusal | BusError

interface StartedImages {
  readonly entry: JobEntry
  readonly made: Effect.Effect<MadeImages, Failure>
}

interface ImageOrder {
  readonly id: string
  readonly call: ImageCall
  readonly payment: PaidCall
}

const utf8 = new TextEncoder()
// Time for settling and storing, after the provider's time.
const endingMs = 60_000

export class ImageWork extends Context.Service<
  ImageWork,
  {
    /** The work continues after the caller has left. */
    readonly start: (order: ImageOrder) => Effect.Effect<StartedImages, BusError>
  }
>()("starling/model-gateway/ImageWork") {
  static readonly layer = Layer.effect(
    ImageWork,
    Effect.gen(function* () {
      const jobs = yield* ImageJobs
      const upstreams = yield* Upstreams
      const { ModelGateway } = yield* Configuration
      const metrics = yield* Metrics
      const ended = metrics.counter(imageJobs)
      const countCost = yield* costCounter
      const scope = yield* Effect.scope
      const workMs = ModelGateway.FirstByteSeconds * 1_000 + endingMs

      const make = Effect.fn("ImageWork.make")(function* ({ id, call, payment }: ImageOrder) {
        const upstreamOrder = {
          model: call.model,
          path: "images" as const,
          headers: {},
          bodyFor: () => Result.succeed(call.request)
        }
        const { body, route } = yield* withinPayment(payment, upstreams.whole(upstreamOrder)).pipe(
          Effect.onError(() => payment.release)
        )
        const cost = countCost(
          { model: call.model.entry.Id, provider: route.provider.name, cost: route.cost },
          { tokens: undefined, count: call.count }
        )
        const bytes = utf8.encode(JSON.stringify(body))
        const settled = yield* payment.settle({ body: bytes, costMicroUsd: cost, used: noUsage })
        yield* jobs.complete(id, bytes)
        return { body, settled }
      })
      const recordEnd = (id: string, exit: Exit.Exit<MadeImages, Failure>) => {
        ended.inc({ outcome: Exit.isSuccess(exit) ? "completed" : "failed" })
        return Exit.isSuccess(exit) ? Effect.void : Effect.ignore(jobs.fail(id, failureOf(exit)))
      }

      const start = Effect.fn("ImageWork.start")(function* (order: ImageOrder) {
        const { id, call, payment } = order
        const entry = yield* Effect.onError(jobs.open(id, call.model.entry.Id, workMs), () => payment.release)
        const done = yield* Deferred.make<MadeImages, Failure>()
        const work = make(order).pipe(Effect.onExit((exit) => recordEnd(id, exit)))
        yield* Effect.forkIn(Deferred.into(work, done), scope)
        return { entry, made: Deferred.await(done) }
      })
      return ImageWork.of({ start })
    })
  )
}

const failureOf = (exit: Exit.Exit<unknown, Failure>) => {
  const failure = Exit.findErrorOption(exit)
  if (failure._tag === "None") return { code: "INTERNAL_ERROR", message: "The image could not be made" }
  const error = failure.value
  if (error._tag === "GatewayFault") return { code: error.code, message: error.message }
  if (error._tag === "PaymentRefusal") return { code: error.code, message: refusedWords(error) }
  return { code: "MODEL_UNAVAILABLE", message: "The image could not be kept" }
}

/** A payment that is still being settled may yet be charged, so its image is kept. */
const refusedWords = ({ code }: PaymentRefusal) =>
  code === "PAYMENT_SETTLING"
    ? "The payment is still being settled; send the same payment again to fetch the image"
    : "The payment was not taken"
