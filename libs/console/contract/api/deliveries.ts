/**
 * Deliveries as operators see them: a line per attempt, one complete delivery, and the order to resend some; with their
 * routes.
 */
import { Schema } from "effect"
import { Count, describe, Ordinal, pageQuery, Timestamp, Uuid } from "#base"
import { attemptOutcomes } from "#webhooks/contract"
import { NameFilter, newestFirstPage, Reason, timeQuery, act, read } from "./parts.ts"
import { guarded } from "#base/http"
import { ResentCount, ResentDelivery } from "./abandoned.ts"

const Outcome = Schema.Literals(attemptOutcomes)
const Headers = Schema.Record(Schema.String, Schema.String)

/** A line's position in the delivery log: message, then line. */
export const AttemptId = Schema.String.check(Schema.isPattern(/^\d{1,15}\.\d{1,3}$/u)).annotate({
  identifier: "Place"
})

export const DeliveryLine = Schema.Struct({
  place: AttemptId.pipe(describe("Its place in the delivery log: `near` finds the delivery there at once.")),
  deliveryId: Uuid.pipe(describe("The delivery's id, as the receiver sees it in `X-Service-Delivery`.")),
  endpoint: Schema.String.pipe(describe("The endpoint's name.")),
  event: Schema.String.pipe(describe("The event's name.")),
  eventSequence: Count.pipe(describe("The event's place in EVENTS.")),
  attempt: Ordinal.pipe(describe("The number of the attempt, from 1.")),
  startedAt: Timestamp.pipe(describe("When the request was sent, in UTC.")),
  durationMs: Count.pipe(describe("How long the receiver took to answer, in milliseconds.")),
  outcome: Outcome.pipe(
    describe("`delivered`, `failed`, `refused` (its address must not be called) or `gone` (it answered 410).")
  ),
  status: Schema.NullOr(Schema.Int).pipe(describe("The HTTP status of the answer; null when there was none.")),
  error: Schema.NullOr(Schema.String).pipe(describe("Why there was no answer.")),
  nextAttemptAt: Schema.NullOr(Timestamp).pipe(describe("Null when no other follows."))
}).annotate({ identifier: "DeliveryLine" })
export interface DeliveryLine extends Schema.Schema.Type<typeof DeliveryLine> {}

export const DeliveryPage = newestFirstPage("DeliveryPage", DeliveryLine, "Attempts")

export const DeliveryAttempt = Schema.Struct({
  place: AttemptId,
  attempt: Ordinal,
  startedAt: Timestamp,
  durationMs: Count,
  outcome: Outcome,
  status: Schema.NullOr(Schema.Int),
  error: Schema.NullOr(Schema.String),
  nextAttemptAt: Schema.NullOr(Timestamp),
  requestHeaders: Schema.NullOr(Headers).pipe(
    describe("As they were sent, without configured values. Null of an attempt that delivered: they are not kept.")
  ),
  responseHeaders: Schema.NullOr(Headers),
  responseBody: Schema.NullOr(Schema.String).pipe(
    describe("The first 1,024 characters, without secrets. Null of an attempt that delivered.")
  )
}).annotate({ identifier: "DeliveryAttempt" })
export interface DeliveryAttempt extends Schema.Schema.Type<typeof DeliveryAttempt> {}

export const DeliveryWhole = Schema.Struct({
  deliveryId: Uuid,
  endpoint: Schema.String,
  event: Schema.String,
  eventSequence: Count,
  attempts: Schema.Array(DeliveryAttempt).pipe(describe("Those that were found, the first one first.")),
  isComplete: Schema.Boolean.pipe(
    describe("False when an attempt was not found: it is older than the log, or was not written yet.")
  ),
  nextAttemptAt: Schema.NullOr(Timestamp).pipe(describe("When the last of them is followed by another.")),
  body: Schema.NullOr(Schema.String).pipe(
    describe("The body as it was sent. Null for a caller without the scope `payloads:read`, and once EVENTS forgot it.")
  ),
  signedTexts: Schema.NullOr(Headers).pipe(
    describe(
      "What each signature header covers, by its name, to check a receiver's own calculation. Null as `body` is."
    )
  )
}).annotate({ identifier: "Delivery" })
export interface DeliveryWhole extends Schema.Schema.Type<typeof DeliveryWhole> {}

/** Where to look for a delivery. */
export const nearQuery = {
  near: Schema.optionalKey(AttemptId).pipe(
    describe("`place` of one of its lines. Without it the log is searched, the newest lines first, for ten seconds.")
  ),
  before: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,15}$/u))).pipe(
    describe("`details.before` of a 404 that looked at a part of the log: the search goes on there.")
  )
}

export const ResendDelivery = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log.")),
  ...nearQuery
}).annotate({ identifier: "ResendDelivery" })

/** Any more need another call. */
export const resendDeliveriesMax = 10_000

export const ResendDeliveries = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log.")),
  dryRun: Schema.optionalKey(Schema.Boolean).pipe(describe("Only count what would be sent.")),
  places: Schema.optionalKey(Schema.Array(AttemptId).check(Schema.isBetweenLength(1, 200))).pipe(
    describe("The deliveries of these lines. Without it `endpoint` and `since` select.")
  ),
  endpoint: Schema.optionalKey(NameFilter).pipe(describe("Those to this endpoint.")),
  outcome: Schema.optionalKey(Outcome).pipe(describe("Only deliveries with an attempt of this outcome.")),
  event: Schema.optionalKey(NameFilter).pipe(describe("Only this event, by name or pattern.")),
  since: Schema.optionalKey(Timestamp).pipe(describe("Those attempted since then.")),
  until: Schema.optionalKey(Timestamp).pipe(describe("Only those attempted until then.")),
  max: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: resendDeliveriesMax }))).pipe(
    describe(`At most this many, oldest first (${resendDeliveriesMax}).`)
  )
}).annotate({ identifier: "ResendDeliveries" })

export const DeliveriesGroup = guarded(
  "deliveries",
  read("listDeliveries", "/deliveries", {
    query: {
      ...pageQuery,
      ...timeQuery,
      endpoint: Schema.optionalKey(NameFilter).pipe(describe("Only those to this endpoint.")),
      outcome: Schema.optionalKey(Outcome).pipe(describe("Only attempts with this outcome.")),
      event: Schema.optionalKey(NameFilter).pipe(
        describe("Only this event, by name or pattern, such as `work_item.*`.")
      ),
      eventSequence: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,15}$/u))).pipe(
        describe("Only deliveries of the event with this number in EVENTS.")
      )
    },
    success: DeliveryPage,
    summary: "List deliveries",
    description:
      "A line for each attempt of the last seven days, as far as 2 GiB hold them. By endpoint and outcome they are found " +
      "at once; by event a page may be short, or empty with a cursor, where the event is rare."
  }),
  read("getDelivery", "/deliveries/:deliveryId", {
    query: nearQuery,
    success: DeliveryWhole,
    summary: "Look at a delivery",
    description:
      "Each of its attempts with request and answer, the body, and what the signatures cover. A 404 says how many messages " +
      "of the log were looked at; while there are more, `details.before` is where the next call goes on."
  }),
  act("resendDeliveries", "/deliveries/resend", {
    payload: ResendDeliveries,
    success: ResentCount,
    refused: ["idempotency_conflict"],
    scope: "console:write",
    summary: "Send deliveries again",
    description:
      "Those of the given lines, or all to an endpoint since a time, each once. Each becomes a new delivery that names the " +
      "old one; one that is still being tried is sent beside it. With `dryRun` they are only counted. An endpoint that " +
      "is gone gets nothing: named as `endpoint` it is refused, and lines to it are left out. An `Idempotency-Key` stands for " +
      "what its first call selected: repeated, it sends nothing more.",
    example: { reason: "it lost its database", endpoint: "demo", since: "2026-11-20T12:00:00Z", dryRun: true }
  }),
  act("resendDelivery", "/deliveries/:deliveryId/resend", {
    payload: ResendDelivery,
    success: ResentDelivery,
    refused: ["conflict", "idempotency_conflict"],
    scope: "console:write",
    summary: "Send a delivery again",
    description:
      "It becomes a new delivery that names the old one. Repeated with the same `Idempotency-Key` it is the same delivery. " +
      "To an endpoint that is gone it is a conflict. It is looked for as `GET /deliveries/:deliveryId` does.",
    example: { reason: "the receiver lost it" }
  })
)
