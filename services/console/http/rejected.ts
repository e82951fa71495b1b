/** Rejected messages over HTTP. A message is republished only if this release accepts it. */
import { hash } from "node:crypto"
import { Effect, Option, Result } from "effect"
import { jsonCodec, mayComeFromOutside, Publisher, type SourceMessage, StreamReader } from "#bus"
import { decodeEnvelope, Rejection, storedEventName, subjects } from "#base"
import { parseUnambiguousJson } from "#base/json"
import { RejectedGroup, type RejectedMessage, type RejectedSummary } from "#console/api"
import { amended, Caller, conflict, emptyAnswer, jsonAnswer, notFound, routesOf } from "#http"
import { AuditLog } from "../AuditLog.ts"
import { apiOptions, messageOf, pageOf, placeOf, refusing } from "./requests.ts"

const codec = jsonCodec(Rejection)

const headOf = (sequence: number, rejection: Rejection) => ({
  sequence,
  origin: rejection.origin,
  subject: rejection.subject,
  sourceSequence: rejection.sequence,
  receivedAt: rejection.receivedAt,
  faultCount: rejection.faults.length,
  isTruncated: rejection.truncated
})

const summaryOf = (message: SourceMessage): Option.Option<RejectedSummary> =>
  Option.map(Result.getSuccess(codec.decode(message)), (rejection) => ({
    ...headOf(message.sequence, rejection),
    firstFault: rejection.faults[0] ?? null
  }))

const bytesOf = ({ payloadBase64 }: Rejection) => Buffer.from(payloadBase64, "base64")

const found = Effect.gen(function* () {
  const message = yield* messageOf("REJECTED", "rejected message")
  const rejection = codec.decode(message)
  if (Result.isFailure(rejection)) return yield* notFound("this rejected message cannot be read")
  return { sequence: message.sequence, rejection: rejection.success }
})

/** The envelope to republish, or why it cannot be. */
const publishable = (rejection: Rejection) => {
  const { subject, truncated } = rejection
  const stored = storedEventName(subject)
  if (stored === undefined) return Effect.fail(conflict("only events can be sent again from here"))
  if (stored.from !== undefined && !mayComeFromOutside(stored.name))
    return Effect.fail(conflict(`${stored.name} is the fleet's own event, and ${stored.from} published it`))
  if (truncated) return Effect.fail(conflict("only its beginning is kept"))
  const bytes = bytesOf(rejection)
  const decoded = Result.flatMap(parseUnambiguousJson(bytes), decodeEnvelope)
  if (Result.isSuccess(decoded)) return Effect.succeed({ subject: subjects.event(stored.name), bytes })
  const stillInvalid = conflict("it still breaks its schema", "still_invalid")
  return Effect.fail(amended(stillInvalid, { details: { faults: decoded.failure } }))
}

export const rejectedRoutes = routesOf(
  RejectedGroup,
  {
    listRejected: ({ query }) =>
      Effect.gen(function* () {
        const asked = yield* query
        const subject = asked.origin === undefined ? subjects.rejectedAll : subjects.rejected(asked.origin)
        return jsonAnswer(yield* pageOf("REJECTED", yield* placeOf(asked), { subject, view: summaryOf }))
      }),

    getRejected: () =>
      Effect.gen(function* () {
        const { sequence, rejection } = yield* found
        const { may } = yield* Caller
        const whole: RejectedMessage = {
          ...headOf(sequence, rejection),
          faults: rejection.faults,
          payload: may("payloads:read") ? bytesOf(rejection).toString("utf8") : null
        }
        return jsonAnswer(whole)
      }),

    resendRejected: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const { sequence, rejection } = yield* found
        const { subject, bytes } = yield* publishable(rejection)
        yield* (yield* AuditLog).write({
          action: "rejected-resend",
          target: `${sequence} ${rejection.subject}`,
          reason
        })
        // A concurrent second call republishes nothing. A publisher that does not know what the id is made of cannot
        // use it first.
        const messageId = `rejected:${hash("sha256", `${sequence} ${rejection.receivedAt} ${rejection.payloadBase64}`)}`
        const stored = yield* refusing((yield* Publisher).publishRaw(subject, bytes, { messageId }))
        yield* refusing((yield* StreamReader).remove("REJECTED", sequence))
        return jsonAnswer({ sequence: stored.sequence })
      }),

    discardRejected: ({ body }) =>
      Effect.gen(function* () {
        const { reason } = yield* body
        const { sequence } = yield* messageOf("REJECTED", "rejected message")
        yield* (yield* AuditLog).write({ action: "rejected-discard", target: String(sequence), reason })
        yield* refusing((yield* StreamReader).remove("REJECTED", sequence))
        return emptyAnswer()
      })
  },
  apiOptions
)
