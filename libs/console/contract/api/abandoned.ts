/** Abandoned deliveries as operators see them: why each was abandoned, and the routes to send them again. */
import { Schema } from "effect"
import { Count, describe, pageQuery, Timestamp, Uuid } from "#base"
import { NameFilter, newestFirstPage, Reason, act, read } from "./parts.ts"
import { guarded } from "#base/http"

const head = {
  sequence: Count.pipe(describe("Its number, as commands and paths take it.")),
  deliveryId: Uuid.pipe(describe("As the receiver saw it in `X-Service-Delivery`.")),
  endpoint: Schema.String,
  event: Schema.String,
  eventSequence: Count.pipe(describe("The event's place in EVENTS.")),
  reason: Schema.NullOr(Schema.String).pipe(describe("Why it was abandoned.")),
  attempts: Schema.NullOr(Count),
  lastStatus: Schema.NullOr(Schema.Int),
  lastError: Schema.NullOr(Schema.String),
  abandonedAt: Timestamp
}

export const AbandonedSummary = Schema.Struct(head).annotate({ identifier: "AbandonedSummary" })
export interface AbandonedSummary extends Schema.Schema.Type<typeof AbandonedSummary> {}

export const AbandonedDetails = Schema.Struct({
  ...head,
  redriveOf: Schema.NullOr(Uuid).pipe(describe("The delivery that this one repeated.")),
  body: Schema.NullOr(Schema.String).pipe(
    describe("The body as it was sent. Null for a caller without the scope `payloads:read`.")
  )
}).annotate({ identifier: "AbandonedDelivery" })
export interface AbandonedDetails extends Schema.Schema.Type<typeof AbandonedDetails> {}

export const AbandonedPage = newestFirstPage("AbandonedPage", AbandonedSummary, "Abandoned deliveries")

/** Any more need another call. */
export const resendCountMax = 100_000

export const ResendAbandoned = Schema.Struct({
  reason: Reason.pipe(describe("Why, for the audit log.")),
  dryRun: Schema.optionalKey(Schema.Boolean).pipe(describe("Only count what would be sent.")),
  endpoint: Schema.optionalKey(NameFilter).pipe(describe("Only those to this endpoint.")),
  events: Schema.optionalKey(Schema.Array(NameFilter).check(Schema.isMaxLength(100))).pipe(
    describe("Only these events, by name or pattern, such as `work_item.*`.")
  ),
  since: Schema.optionalKey(Timestamp).pipe(describe("Only those abandoned since then.")),
  until: Schema.optionalKey(Timestamp).pipe(describe("Only those abandoned until then.")),
  max: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: resendCountMax }))).pipe(
    describe(`At most so many; ${resendCountMax} without it.`)
  )
}).annotate({ identifier: "ResendAbandoned" })

export const ResentCount = Schema.Struct({
  count: Count.pipe(describe("How many were sent again; of a dry run, how many would be.")),
  dryRun: Schema.Boolean
}).annotate({ identifier: "ResentCount" })

export const ResentDelivery = Schema.Struct({
  deliveryId: Uuid.pipe(describe("The id of the new delivery; it names the old one in `X-Service-Redrive-Of`."))
}).annotate({ identifier: "ResentDelivery" })

export const AbandonedGroup = guarded(
  "abandoned",
  read("listAbandoned", "/abandoned", {
    query: {
      ...pageQuery,
      endpoint: Schema.optionalKey(NameFilter).pipe(describe("Only those to this endpoint."))
    },
    success: AbandonedPage,
    summary: "List abandoned deliveries",
    description: "Deliveries that were abandoned in the last thirty days."
  }),
  read("getAbandoned", "/abandoned/:sequence", {
    success: AbandonedDetails,
    summary: "Look at an abandoned delivery",
    description: "Why it was abandoned, and the body that was sent."
  }),
  act("resendAllAbandoned", "/abandoned/resend", {
    payload: ResendAbandoned,
    success: ResentCount,
    refused: ["idempotency_conflict"],
    scope: "console:write",
    summary: "Send abandoned deliveries again",
    description:
      "Those that the body selects: each becomes a new delivery that names the old one, and leaves the list. " +
      "With `dryRun` they are only counted. An `Idempotency-Key` stands for what its first call selected: repeated, it " +
      "sends nothing more, also where one of them was abandoned once more.",
    example: { reason: "the receiver is back", endpoint: "demo", dryRun: true }
  }),
  act("resendAbandoned", "/abandoned/:sequence/resend", {
    success: ResentDelivery,
    refused: ["conflict", "idempotency_conflict"],
    scope: "console:write",
    summary: "Send an abandoned delivery again",
    description: "It becomes a new delivery that names the old one, and leaves the list.",
    example: { reason: "the receiver is back" }
  }),
  act("discardAbandoned", "/abandoned/:sequence/discard", {
    scope: "console:operate",
    summary: "Discard an abandoned delivery",
    description: "Takes it off the list for good; it can no longer be sent again.",
    example: { reason: "the receiver is gone" }
  })
)
