/**
 * Makes images beside the call that asked for them: one that takes long, or whose caller left, is still made,
 * paid for and kept, to be fetched by its job. Work ends with the role; what is cut then is released.
 */
import { Context, Deferred, Effect, Exit, Layer, Result } from "effect"
import type { BusError } from "#bus"
import { Configuration, Metrics } from "#runtime"
import type { GatewayFault } from "../errors/GatewayFault.ts"
import { imageJobs } from "../metrics.ts"
import { type PaidCall, type SettledCall, withinPayment } from "../payments/paid-call.ts"
import type { PaymentRefusal } from "../payments/replies.ts"
import { type JsonObject, without } from "../translate/json.ts"
import { Upstreams } from "../upstream/Upstreams.ts"
import { ImageJobs, type JobEntry } from "./ImageJobs.ts"
import type { ImageCall } from "./routes.ts"

export interface MadeImages {
  readonly body: JsonObject
  readonly settled: SettledCall
}

type Failure = GatewayFault | PaymentRefusal | BusError

export interface StartedImages {
  readonly entry: JobEntry
  readonly made: Effect.Effect<MadeImages, Failure>
}

export interface WantedImages {
  readonly id: string
  readonly call: ImageCall
  readonly payment: PaidCall
}

const utf8 = new TextEncoder()
// Beside the provider's time: settling and storing.
const endingMs = 60_000

export class ImageWork extends Context.Service<
  ImageWork,
  {
    /** Goes on when the caller has left. */
    readonly start: (wanted: WantedImages) => Effect.Effect<StartedImages, BusError>
  }
>()("starling/model-gateway/ImageWork") {
  static readonly layer = Layer.effect(
    ImageWork,
    Effect.gen(function* () {
      const jobs = yield* ImageJobs
      const upstreams = yield* Upstreams
      const { ModelGateway } = yield* Configuration
      const ended = (yield* Metrics).counter(imageJobs)
      const scope = yield* Effect.scope
      const workMs = ModelGateway.FirstByteSeconds * 1_000 + endingMs

      const make = Effect.fn("ImageWork.make")(function* ({ id, call, payment }: WantedImages) {
        const order = {
          model: call.model,
          path: "images" as const,
          headers: {},
          bodyFor: () => Result.succeed(without(call.request, "stream"))
        }
        const { body } = yield* withinPayment(payment, upstreams.whole(order)).pipe(
          Effect.onError(() => payment.release)
        )
        const bytes = utf8.encode(JSON.stringify(body))
        const settled = yield* payment.settle(bytes)
        yield* jobs.complete(id, bytes)
        return { body, settled }
      })
      const note = (id: string, exit: Exit.Exit<MadeImages, Failure>) => {
        ended.inc({ outcome: Exit.isSuccess(exit) ? "completed" : "failed" })
        return Exit.isSuccess(exit) ? Effect.void : Effect.ignore(jobs.fail(id, failureOf(exit)))
      }

      const start = Effect.fn("ImageWork.start")(function* (wanted: WantedImages) {
        const { id, call, payment } = wanted
        const entry = yield* Effect.onError(jobs.open(id, call.model.entry.Id, workMs), () => payment.release)
        const done = yield* Deferred.make<MadeImages, Failure>()
        const work = make(wanted).pipe(Effect.onExit((exit) => note(id, exit)))
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

/** What is still being settled may be charged yet: its image is kept. */
const refusedWords = ({ code }: PaymentRefusal) =>
  code === "PAYMENT_SETTLING"
    ? "The payment is still being settled; send the same payment again to fetch the image"
    : "The payment was not taken"
