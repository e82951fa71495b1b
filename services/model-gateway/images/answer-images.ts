/**
 * Images, made while the caller waits, or by a job that is polled later. Anyone who knows a job's id can fetch it; ids
 * cannot be guessed.
 */
import { Clock, Effect, Option, Result } from "effect"
import { ImagesRequest } from "#gateway/contract"
import { HttpCall, jsonAnswer, writtenJsonAnswer } from "#http"
import { Configuration } from "#configuration"
import { unsettledHeaders } from "#payments"
import { answering, notFound } from "../answer-refusal.ts"
import { fault, GatewayFault } from "../errors/GatewayFault.ts"
import { FreeTier } from "../models/FreeTier.ts"
import type { RegisteredModel } from "../models/ModelRegistry.ts"
import { gatewayOrigin } from "../origin.ts"
import { type PayableCall, payableParts } from "../payments/quote.ts"
import { PaymentGate } from "../payments/PaymentGate.ts"
import { freeCall } from "../payments/paid-call.ts"
import { PaymentRefusal } from "../payments/replies.ts"
import { imageRequestFault } from "../conversation/files.ts"
import { shapeCheck } from "../requests/dialects.ts"
import { pricedRoute } from "../priced-route.ts"
import { type ReadBody, type ReadParts, soldRequest } from "../requests/read-call.ts"
import { freeFault } from "../answer-model.ts"
import { type JsonObject, numberAt, textAt } from "../translate/json.ts"
import { allowedRequest, imageKeys, leftOutHeaders } from "../translate/provider-keys.ts"
import { type FoundJob, ImageJobs, ImageWork, jobBody, type MadeImages, newImageJobId } from "./ImageJobs.ts"

const pollSeconds = 2

const noJob = notFound("There is no such image job, or it is older than a day")

const paymentOf = Effect.fnUntraced(function* (call: ImageCall, id: string) {
  if (call.model.entry.Free) {
    yield* (yield* FreeTier).takeCall(yield* HttpCall, call.model.family)
    return freeCall
  }
  return yield* (yield* PaymentGate).pay({ ...payable(call, yield* HttpCall), jobId: id })
})

const pollUrlOf = Effect.fnUntraced(function* (id: string) {
  const { route } = yield* HttpCall
  const base = /^(?:\/solana)?(?:\/api)?(?=\/v1\/)/u.exec(route)?.[0] ?? ""
  const origin = yield* gatewayOrigin
  return `${origin()}${base}/v1/images/jobs/${id}`
})

const headersOf = (id: string) => ({ "cache-control": "private, no-store", "x-image-job": id })

const answerCall = Effect.fnUntraced(function* (call: ImageCall) {
  const { ModelGateway } = yield* Configuration
  const id = newImageJobId()
  // Once the payment is verified, the work continues without the caller.
  const started = Effect.uninterruptible(
    Effect.flatMap(paymentOf(call, id), (payment) =>
      Effect.flatMap(ImageWork, (work) => work.start({ id, call, payment }))
    )
  )
  return yield* Effect.matchEffect(started, {
    onSuccess: ({ entry, made }) =>
      answerStarted({ id, entry }, Effect.timeoutOption(made, ModelGateway.ImageInlineSeconds * 1_000), call),
    onFailure: (error) =>
      error._tag === "PaymentRefusal" && error.jobId !== undefined
        ? answerBegunBefore(error.jobId, error, call)
        : Effect.fail(error)
  }).pipe(Effect.mapError((error) => callFailure(call, error)))
})

/** Answers with the image, or with its job if it takes longer than a caller waits. */
const answerStarted = Effect.fnUntraced(function* <E>(
  job: Pick<FoundJob, "id" | "entry">,
  made: Effect.Effect<Option.Option<MadeImages>, E>,
  { leftOut }: ImageCall
) {
  const done = yield* made
  if (Option.isNone(done)) return yield* answerInWork(job, leftOut)
  const { body, settled } = done.value
  return jsonAnswer(body, { headers: { ...headersOf(job.id), ...leftOutHeaders(leftOut), ...settled.headers } })
})

const answerInWork = Effect.fnUntraced(function* (
  { id, entry }: Pick<FoundJob, "id" | "entry">,
  leftOut: ReadonlyArray<string>
) {
  const pollUrl = yield* pollUrlOf(id)
  return jsonAnswer(jobBody({ id, entry, answer: undefined }, yield* Clock.currentTimeMillis, pollUrl), {
    status: 202,
    headers: {
      ...headersOf(id),
      ...leftOutHeaders(leftOut),
      "retry-after": String(pollSeconds),
      location: pollUrl
    }
  })
})

/** Answers a repeated payment with its own job, or with its images if only the settlement is still open. */
const answerBegunBefore = Effect.fnUntraced(function* (id: string, otherwise: PaymentRefusal, { leftOut }: ImageCall) {
  const job = Option.getOrUndefined(yield* (yield* ImageJobs).find(id))
  if (job?.answer !== undefined) {
    const headers = { ...headersOf(id), ...unsettledHeaders("settlement_pending") }
    return writtenJsonAnswer<JsonObject>(job.answer, { headers })
  }
  // A job that failed, or whose maker is gone, has its payment released, or settled for an image that is stored.
  const isInWork = job?.entry.status === "in_progress" && (yield* Clock.currentTimeMillis) <= job.entry.deadlineMs
  return isInWork ? yield* answerInWork(job, leftOut) : yield* Effect.fail(otherwise)
})

/** Bus failures are not shown to callers. */
const callFailure = <E>(call: ImageCall, error: E) => {
  if (error instanceof GatewayFault) return freeFault({ model: call.model, isStreamed: false }, error)
  return error instanceof PaymentRefusal ? error : fault("MODEL_UNAVAILABLE", { retryAfterSeconds: 1 })
}

export const answerImageJob = answering("images")(
  Effect.gen(function* () {
    const { params } = yield* HttpCall
    const id = params["id"] ?? ""
    const found = yield* (yield* ImageJobs)
      .find(id)
      .pipe(Effect.mapError(() => fault("MODEL_UNAVAILABLE", { retryAfterSeconds: 1 })))
    if (Option.isNone(found)) return noJob
    const body = jobBody(found.value, yield* Clock.currentTimeMillis, yield* pollUrlOf(id))
    return jsonAnswer(body, { headers: { "cache-control": "private, no-store" } })
  })
)

/** A call for images, read and checked. */
export interface ImageCall {
  readonly model: RegisteredModel
  readonly request: JsonObject
  readonly bytes: Uint8Array
  readonly prompt: string
  readonly count: number
  /** The keys of the request that the provider does not receive. */
  readonly leftOut: ReadonlyArray<string>
}

const checkImages = shapeCheck(ImagesRequest)

const readImageCall = ({ bytes, json }: ReadBody, { find }: Pick<ReadParts, "find">) =>
  Result.flatMap(checkImages(json), (request) =>
    Result.flatMap(find(textAt(request, "model") ?? "", "image"), (model): Result.Result<ImageCall, GatewayFault> => {
      if (request["stream"] === true) return Result.fail(fault("STREAM_UNSUPPORTED", { param: "stream" }))
      const wrong = imageRequestFault(request)
      if (wrong !== undefined) return Result.fail(wrong)
      return Result.map(soldRequest(request, model.entry.ExtraParameters), (sold) => {
        const { body, leftOut } = allowedRequest(imageKeys, sold)
        const [prompt, count] = [textAt(body, "prompt") ?? "", numberAt(body, "n") ?? 1]
        return { model, request: body, bytes, prompt, count, leftOut }
      })
    })
  )

const payable = (call: ImageCall, http: HttpCall["Service"]): PayableCall => ({
  ...payableParts(http, call.model),
  prompt: { textBytes: Buffer.byteLength(call.prompt), images: 0 },
  outputTokens: 0,
  count: call.count,
  body: call.bytes,
  kind: "whole",
  shape: "chat"
})

export const answerImages = pricedRoute({ dialect: "images", read: readImageCall, answer: answerCall })
