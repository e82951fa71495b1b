/** Rejected messages as operators see them: the message, its faults, and the routes to resolve them. */
import { Schema } from "effect"
import { Count, describe, Fault, pageQuery, Timestamp } from "#base"
import { NameFilter, newestFirstPage, act, read } from "./parts.ts"
import { guarded } from "#base/http"

const head = {
  sequence: Count.pipe(describe("Its number, as commands and paths take it.")),
  origin: Schema.String.pipe(describe("The part of the fleet that rejected it, such as `events`.")),
  subject: Schema.String.pipe(describe("The subject on which it was published.")),
  sourceSequence: Schema.NullOr(Count).pipe(describe("Its place in the stream it came from, if it came from one.")),
  receivedAt: Timestamp,
  faultCount: Count,
  isTruncated: Schema.Boolean.pipe(describe("Only the first 64 KiB of it are kept."))
}

export const RejectedSummary = Schema.Struct({
  ...head,
  firstFault: Schema.NullOr(Fault)
}).annotate({ identifier: "RejectedSummary" })
export interface RejectedSummary extends Schema.Schema.Type<typeof RejectedSummary> {}

export const RejectedMessage = Schema.Struct({
  ...head,
  faults: Schema.Array(Fault),
  payload: Schema.NullOr(Schema.String).pipe(
    describe("What came, as text and without secrets. Null for a caller without the scope `payloads:read`.")
  )
}).annotate({ identifier: "RejectedMessage" })
export interface RejectedMessage extends Schema.Schema.Type<typeof RejectedMessage> {}

export const RejectedPage = newestFirstPage("RejectedPage", RejectedSummary, "Rejected messages")

export const RejectedResent = Schema.Struct({
  sequence: Count.pipe(describe("Its new place in the stream it was sent to."))
}).annotate({ identifier: "RejectedResent" })

export const RejectedGroup = guarded(
  "rejected",
  read("listRejected", "/rejected", {
    query: {
      ...pageQuery,
      origin: Schema.optionalKey(NameFilter).pipe(describe("Only those rejected by this part, such as `events`."))
    },
    success: RejectedPage,
    summary: "List rejected messages",
    description: "Messages that broke their schema, of the last seven days."
  }),
  read("getRejected", "/rejected/:sequence", {
    success: RejectedMessage,
    summary: "Look at a rejected message",
    description: "With every fault and its path, and with what came."
  }),
  act("resendRejected", "/rejected/:sequence/resend", {
    success: RejectedResent,
    refused: ["conflict", "still_invalid"],
    scope: "console:write",
    summary: "Send a rejected event again",
    description:
      "Publishes the event as it is kept, where this release accepts it, and takes it off the list. " +
      "Other messages are sent again by those who sent them.",
    example: { reason: "the schema is mended" }
  }),
  act("discardRejected", "/rejected/:sequence/discard", {
    scope: "console:operate",
    summary: "Discard a rejected message",
    description: "Takes it off the list for good.",
    example: { reason: "a test's" }
  })
)
