/**
 * The payment books as operators see them, the findings of their comparison, and the routes to inspect and resolve
 * those.
 */
import { Schema } from "effect"
import { guarded } from "#base/http"
import { act, read } from "./parts.ts"
import { AtomicAmount, findingEnds, FindingId, findingKinds } from "#payments/contract"
import { Count, describe, pageSizeMax, Timestamp } from "#base"
import { ClaimSummary, ReceiptOfFinding, token } from "./money.ts"

export const BookView = Schema.Struct({
  ...token,
  payTo: Schema.String.pipe(describe("The account that is paid.")),
  comparedAt: Schema.NullOr(Timestamp).pipe(describe("When chain and receipts were last compared to their end.")),
  triedAt: Schema.NullOr(Timestamp).pipe(describe("When a settler last began to.")),
  isBehind: Schema.Boolean.pipe(describe("They were not compared to their end for an hour.")),
  trouble: Schema.NullOr(Schema.String).pipe(describe("Why not.")),
  holder: Schema.NullOr(Schema.String).pipe(describe("The settler's process that compared last.")),
  standing: Count.pipe(describe("Findings that stand.")),
  keys: Schema.Array(
    Schema.Struct({
      address: Schema.String,
      balance: Schema.NullOr(AtomicAmount).pipe(
        describe("In the coin's smallest unit; null where the chain did not say.")
      ),
      decimals: Schema.NullOr(Count)
    })
  ).pipe(describe("What the settlers' keys held for fees, in the chain's own coin, at `triedAt`.")),
  notKept: Count.pipe(describe("Findings beyond the 2,000 that are kept of an account; the settlers' log has them."))
}).annotate({ identifier: "Book" })
export interface BookView extends Schema.Schema.Type<typeof BookView> {}

const finding = {
  id: FindingId,
  kind: Schema.Literals(findingKinds),
  ...token,
  payTo: Schema.String,
  amount: Schema.NullOr(AtomicAmount).pipe(
    describe("Of its transfer, else of its first receipt; of a payment channel, by how much its parts differ.")
  ),
  payer: Schema.NullOr(Schema.String),
  transaction: Schema.NullOr(Schema.String),
  channel: Schema.NullOr(Schema.String).pipe(describe("The id of the payment channel that it is about.")),
  fault: Schema.NullOr(Schema.String).pipe(describe("What of that channel differs.")),
  foundAt: Timestamp,
  canBeMended: Schema.Boolean.pipe(
    describe("Whether `mend` may help; otherwise it can be accepted once it is explained.")
  ),
  end: Schema.NullOr(
    Schema.Struct({
      how: Schema.Literals(findingEnds).pipe(describe("`resolved`: a later comparison found nothing any more.")),
      at: Timestamp,
      by: Schema.NullOr(Schema.String).pipe(describe("The operator's token; null for the settlers themselves.")),
      reason: Schema.NullOr(Schema.String)
    })
  ).pipe(describe("Null while it stands."))
}

export const FindingSummary = Schema.Struct(finding).annotate({ identifier: "FindingSummary" })
export interface FindingSummary extends Schema.Schema.Type<typeof FindingSummary> {}

export const FindingWhole = Schema.Struct({
  ...finding,
  meaning: Schema.String,
  advice: Schema.String.pipe(describe("What to do about it.")),
  transferAmount: Schema.NullOr(AtomicAmount).pipe(describe("As the chain has it.")),
  receipts: Schema.Array(ReceiptOfFinding),
  claims: Schema.Array(ClaimSummary).pipe(describe("As they are now, where they are still kept."))
}).annotate({ identifier: "Finding" })
export interface FindingWhole extends Schema.Schema.Type<typeof FindingWhole> {}

export const Books = Schema.Struct({
  books: Schema.Array(BookView).pipe(describe("One for each network that is configured.")),
  findings: Schema.Array(FindingSummary)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe("Those that stand, the oldest first; of the ended ones the newest first.")),
  leftOut: Count.pipe(describe(`Findings beyond the first ${pageSizeMax}.`))
}).annotate({ identifier: "Books" })
export interface Books extends Schema.Schema.Type<typeof Books> {}

export const BooksGroup = guarded(
  "books",
  read("getBooks", "/books", {
    query: {
      ended: Schema.optionalKey(Schema.Literals(["true", "false"])).pipe(
        describe("`true`: the findings that have ended, for thirty days. Without it, those that stand.")
      )
    },
    success: Books,
    summary: "Look at the payment books",
    description:
      "How far the settlers' comparison of chain, claims and receipts is, and what it found. A finding stands until it is " +
      "mended or accepted, or a later comparison finds nothing any more."
  }),
  read("getFinding", "/books/:finding", {
    success: FindingWhole,
    summary: "Look at a finding",
    description: "With its transfer, its receipts and its claims, what it means, and what to do about it."
  }),
  act("mendFinding", "/books/:finding/mend", {
    success: FindingSummary,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Mend a finding",
    description:
      "A settler does what is safe: it settles an overdue payment, after a look at the chain; it writes a missing receipt; it " +
      "serves a payer again who has paid after all. Nothing is paid twice, and a repetition changes nothing. 409 where only a " +
      "person can explain the finding; 503 where no settler answers, or a chain does not say yet.",
    example: { reason: "the node is back" }
  }),
  act("acceptFinding", "/books/:finding/accept", {
    success: FindingSummary,
    scope: "console:operate",
    summary: "Accept a finding",
    description: "It is explained, as the reason says, and is not told again. No money moves, and no receipt changes.",
    example: { reason: "a gift; sent back on 20 November" }
  })
)
