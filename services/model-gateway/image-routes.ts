/**
 * Images: made within the time that a caller waits, or by a job that is asked for later. Whoever knows a job's
 * id may fetch it; ids cannot be guessed.
 */
import { Clock, Effect, Option } from "effect"
import { Admission, HttpCall, jsonAnswer } from "#http"
import { Configuration } from "#runtime"
import { answering } from "./errors/answer-refusal.ts"
import { fault, GatewayFault } from "./errors/GatewayFault.ts"
import { ImageJobs } from "./images/ImageJobs.ts"
import { ImageWork } from "./images/ImageWork.ts"
import { jobBody } from "./images/job-body.ts"
import { type ImageCall, readImageCall } from "./images/read-image-call.ts"
import { payableImages } from "./payable.ts"
import { freeCourse, openCourse } from "./payment-course.ts"
import { FreeTier } from "./requests/FreeTier.ts"
import { freeFault } from "./stream-answer.ts"
import { PaymentRefusal, Till } from "./Till.ts"

const pollSeconds = 2

const message = "There is no such image job, or it is older than a day"
const noJob = {
  error: { message, type: "invalid_request_error", code: "NOT_FOUND", param: null },
  message,
  code: "NOT_FOUND"
}

const courseOf = Effect.fnUntraced(function* (call: ImageCall) {
  if (call.model.entry.Free) {
    yield* (yield* FreeTier).takeCall(yield* HttpCall, call.model.family)
    return freeCourse
  }
  return yield* openCourse((yield* Till).pay(payableImages(call, yield* HttpCall)))
})

const pollUrlOf = (origin: string, route: string, id: string) => {
  const base = /^(?:\/solana)?(?:\/api)?(?=\/v1\/)/u.exec(route)?.[0] ?? ""
  return `${origin.replace(/\/+$/u, "")}${base}/v1/images/jobs/${id}`
}

export const answerImages = answering("images")(
  Effect.gen(function* () {
    const { ModelGateway } = yield* Configuration
    const { route } = yield* HttpCall
    yield* (yield* Admission).enter("callers")
    const call = yield* readImageCall()
    // From the payment on the work does not end with the caller.
    const { id, made } = yield* Effect.uninterruptible(
      Effect.flatMap(courseOf(call), (course) => Effect.flatMap(ImageWork, (work) => work.start(call, course)))
    ).pipe(Effect.mapError((error) => known(call, error)))
    const pollUrl = pollUrlOf(ModelGateway.Origin, route, id)
    const headers = { "cache-control": "private, no-store", "x-image-job": id }
    const done = yield* Effect.timeoutOption(made, ModelGateway.ImageInlineSeconds * 1_000).pipe(
      Effect.mapError((error) => known(call, error))
    )
    if (Option.isSome(done)) {
      return jsonAnswer(done.value.body, { headers: { ...headers, ...done.value.settled.headers } })
    }
    const nowMs = yield* Clock.currentTimeMillis
    const entry = {
      model: call.model.entry.Id,
      createdAtMs: nowMs,
      deadlineMs: nowMs,
      status: "in_progress",
      error: null
    } as const
    return jsonAnswer(jobBody({ id, entry, answer: undefined }, nowMs, pollUrl), {
      status: 202,
      headers: { ...headers, "retry-after": String(pollSeconds), location: pollUrl }
    })
  })
)

/** The bus is not the caller's business. */
const known = <E>(call: ImageCall, error: E) => {
  if (error instanceof GatewayFault) return freeFault({ model: call.model, isStreamed: false }, error)
  return error instanceof PaymentRefusal ? error : fault("MODEL_UNAVAILABLE", { retryAfterSeconds: 1 })
}

export const answerImageJob = answering("images")(
  Effect.gen(function* () {
    const { ModelGateway } = yield* Configuration
    const { params, route } = yield* HttpCall
    const id = params["id"] ?? ""
    const found = yield* (yield* ImageJobs)
      .find(id)
      .pipe(Effect.mapError(() => fault("MODEL_UNAVAILABLE", { retryAfterSeconds: 1 })))
    if (Option.isNone(found)) return jsonAnswer(noJob, { status: 404, headers: { "cache-control": "no-store" } })
    const body = jobBody(found.value, yield* Clock.currentTimeMillis, pollUrlOf(ModelGateway.Origin, route, id))
    return jsonAnswer(body, { headers: { "cache-control": "private, no-store" } })
  })
)
