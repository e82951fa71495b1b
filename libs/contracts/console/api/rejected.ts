/** Rejected messages as operators see them. */
import { Schema } from "effect"
import { pageQuery } from "../../pipeline/api/parts.ts"
import { Count, describe, Fault, Timestamp } from "../../primitives.ts"
import { NameFilter, newestFirst } from "./parts.ts"

const head = {
  sequence: Count.pipe(describe("Its place among the rejected; the id in paths.")),
  origin: Schema.String.pipe(describe("The part of the fleet that refused it, such as `events`.")),
  subject: Schema.String.pipe(describe("Where it was published.")),
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

export const RejectedPage = Schema.Struct(newestFirst(RejectedSummary, "Rejected messages")).annotate({
  identifier: "RejectedPage"
})

export const RejectedQuery = Schema.Struct({
  ...pageQuery,
  origin: Schema.optionalKey(NameFilter).pipe(describe("Only those that this part refused."))
})

export const RejectedResent = Schema.Struct({
  sequence: Count.pipe(describe("Its new place in the stream it was sent to."))
}).annotate({ identifier: "RejectedResent" })
