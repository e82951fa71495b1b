/** What has happened to a work item, record by record, as its log has it: facts without secrets, and the events told. */
import { Schema } from "effect"
import { Count, Timestamp } from "../../primitives.ts"
import { says } from "../../speech/says.ts"
import { pageQuery, pageSizeMax } from "./paging.ts"

export const HistoryQuery = Schema.Struct(pageQuery)
export interface HistoryQuery extends Schema.Schema.Type<typeof HistoryQuery> {}

export const HistoryRecord = Schema.Struct({
  sequence: Count.pipe(says("Of the record in the log.")),
  at: Timestamp,
  facts: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)).pipe(
    says("What was decided, in order. `fact` names each; a new one may come.")
  ),
  events: Schema.Array(Schema.String).pipe(says("Names of the events that were told of it."))
}).annotate({ identifier: "HistoryRecord" })
export interface HistoryRecord extends Schema.Schema.Type<typeof HistoryRecord> {}

export const HistoryPage = Schema.Struct({
  items: Schema.Array(HistoryRecord).check(Schema.isMaxLength(pageSizeMax)).pipe(says("Oldest first.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(says("For `cursor`; null on the last page."))
}).annotate({ identifier: "HistoryPage" })
export interface HistoryPage extends Schema.Schema.Type<typeof HistoryPage> {}
