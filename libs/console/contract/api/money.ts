/**
 * Receipts, their sums, claims, and payments of trials, as operators see them, with their routes. An amount is text: a
 * whole number of the smallest unit of its asset, accompanied by the asset's decimals.
 */
import { Schema } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { guarded } from "#base/http"
import {
  AtomicAmount,
  ChainAddress,
  ClaimKey,
  Network,
  signedSchemes,
  RefundKey,
  refundStates,
  TransactionId
} from "#payments/contract"
import { Count, describe, pageQuery, pageSizeMax, text, Timestamp } from "#base"
import { NameFilter, newestFirstPage, Reason, timeQuery, act, read } from "./parts.ts"

/** The token of an amount. */
export const token = {
  network: Schema.String.pipe(describe("The chain, by CAIP-2.")),
  asset: Schema.String.pipe(describe("The token's contract, or its mint.")),
  symbol: Schema.NullOr(Schema.String).pipe(describe("What the token is called; null for one that is not configured.")),
  decimals: Schema.NullOr(Count).pipe(describe("Digits of the token after the point; null as `symbol` is."))
}
const amount = AtomicAmount.pipe(describe("A whole number of the asset's smallest unit."))
const model = Schema.NullOr(Schema.String).pipe(
  describe("The model that was asked. Null of receipts of older releases, and of payments to other servers.")
)

const outcomes = ["settled", "uncollected", "refunded"] as const

const receipt = {
  sequence: Count.pipe(describe("Its place in RECEIPTS; the id in paths.")),
  claimKey: ClaimKey,
  ...token,
  amount,
  payer: Schema.String,
  payTo: Schema.String,
  outcome: Schema.Literals(outcomes).pipe(
    describe("`refunded`: so much of the payment with this claim went back to its payer.")
  ),
  transaction: Schema.NullOr(Schema.String).pipe(
    describe("Null where nothing was sent, and for a charge of a payment channel, which is claimed with others.")
  ),
  reason: Schema.NullOr(Schema.String).pipe(describe("Why nothing was collected, or why it was given back.")),
  model,
  requestedAt: Timestamp,
  endedAt: Timestamp,
  scheme: Schema.Literals(signedSchemes).pipe(
    describe(
      "How it was paid: `exact`, the quoted amount; `upto`, what was used; `batch-settlement`, the same by payment channel."
    )
  ),
  ceiling: Schema.NullOr(AtomicAmount).pipe(
    describe("The most that could have been charged; null where the amount was fixed.")
  ),
  providerCost: Schema.NullOr(AtomicAmount).pipe(
    describe(
      "What the model's provider took for the answer, in the unit of `amount`, rounded up as the price is. Null where its cost is " +
        "not configured, in receipts of older releases, and of a stream that was left, or settled, before its end."
    )
  ),
  refund: Schema.NullOr(RefundKey).pipe(describe("Of a refund: the operator's name for it; null of payments."))
}

const { sequence: _sequence, ...withoutPlace } = receipt

/** A receipt beside a finding, without its position in RECEIPTS. */
export const ReceiptOfFinding = Schema.Struct(withoutPlace)

export const ReceiptView = Schema.Struct(receipt).annotate({ identifier: "Receipt" })
export interface ReceiptView extends Schema.Schema.Type<typeof ReceiptView> {}

const claimStates = ["CLAIMED", "SERVING", "SETTLING", "SETTLED", "UNCOLLECTED", "RELEASED"] as const

const claim = {
  key: ClaimKey.pipe(describe("The id in paths.")),
  state: Schema.Literals(claimStates),
  ...token,
  amount,
  payer: Schema.String,
  payTo: Schema.String,
  model,
  kind: Schema.Literals(["whole", "stream"]),
  holder: Schema.String.pipe(describe("The gateway's process.")),
  claimedAt: Timestamp,
  requestedAt: Schema.NullOr(Timestamp).pipe(describe("When its settlement was first asked for.")),
  asked: Count.pipe(describe("How many requests carried it.")),
  validBefore: Timestamp.pipe(describe("When the chain stops taking the payment.")),
  transactions: Schema.Array(Schema.String).pipe(describe("Those that were signed for it, the newest last.")),
  reason: Schema.NullOr(Schema.String).pipe(describe("Why it ended unpaid."))
}

export const ClaimSummary = Schema.Struct(claim).annotate({ identifier: "ClaimSummary" })
export interface ClaimSummary extends Schema.Schema.Type<typeof ClaimSummary> {}

export const ClaimWhole = Schema.Struct({
  ...claim,
  receipts: Schema.Array(ReceiptView).pipe(describe("Its receipts, newest first.")),
  hasAllReceipts: Schema.Boolean.pipe(
    describe("False where the payer had more than 20,480 since the claim: its own may be among the older ones.")
  ),
  payerPlaces: Count.pipe(describe("Claims of the payer that hold some of its money.")),
  payerDenied: Schema.NullOr(Schema.Struct({ claimKey: ClaimKey, reason: Schema.String, since: Timestamp })).pipe(
    describe("Why nothing is sold to the payer any more.")
  )
}).annotate({ identifier: "Claim" })
export interface ClaimWhole extends Schema.Schema.Type<typeof ClaimWhole> {}

export const RefundView = Schema.Struct({
  key: RefundKey,
  ...token,
  amount,
  state: Schema.Literals(refundStates).pipe(
    describe(
      "`ordered`: a settler is at it, and goes on with it; `made`: the chain has its transfer; `failed`: it will never be made, and its money can be ordered again, by another key."
    )
  ),
  payer: Schema.String.pipe(describe("Who gets it.")),
  from: Schema.String.pipe(describe("The account that pays it.")),
  reason: Schema.String,
  by: Schema.String.pipe(describe("The operator's token.")),
  orderedAt: Timestamp,
  endedAt: Schema.NullOr(Timestamp),
  transaction: Schema.NullOr(Schema.String).pipe(describe("The one that made it, or the newest that may.")),
  fault: Schema.NullOr(Schema.String).pipe(describe("Why it failed."))
}).annotate({ identifier: "PaymentRefund" })
export interface RefundView extends Schema.Schema.Type<typeof RefundView> {}

export const RefundRequest = Schema.Struct({
  key: RefundKey.pipe(describe("Your name for the refund. The same one, sent again, is the same refund.")),
  amount: Schema.optionalKey(AtomicAmount).pipe(
    describe("How much, in the asset's smallest unit; without it all that is left of the payment.")
  ),
  reason: Reason.pipe(describe("Why, for the audit log and the receipt."))
}).annotate({ identifier: "RefundRequest" })

export const ReceiptWhole = Schema.Struct({
  ...receipt,
  refunds: Schema.Array(RefundView).pipe(describe("What was given back of it, or is about to be; the oldest first.")),
  claim: Schema.NullOr(ClaimSummary).pipe(describe("Null once it is forgotten, a day after its payment's own end."))
}).annotate({ identifier: "ReceiptWithClaim" })
export interface ReceiptWhole extends Schema.Schema.Type<typeof ReceiptWhole> {}

export const ReceiptPage = newestFirstPage("ReceiptPage", ReceiptView, "Receipts")

const receiptFilter = {
  ...timeQuery,
  network: Schema.optionalKey(Network).pipe(describe("Only this chain, by CAIP-2, such as `eip155:8453`.")),
  payer: Schema.optionalKey(ChainAddress).pipe(describe("Only this account.")),
  model: Schema.optionalKey(NameFilter).pipe(describe("Only this model.")),
  outcome: Schema.optionalKey(Schema.Literals(outcomes)).pipe(
    describe("Only this outcome; `refunded` is what was paid back.")
  ),
  transaction: Schema.optionalKey(TransactionId).pipe(describe("Only this transaction."))
}

export const ReceiptsQuery = Schema.Struct({ ...pageQuery, ...receiptFilter })

/** Lines of one CSV answer. */
export const csvLinesMax = 100_000
/** Receipts that one CSV answer reads: minutes of reading. */
export const csvReadMax = 1_000_000

export const sumsBy = ["day", "model", "payer"] as const
export type SumsBy = (typeof sumsBy)[number]

/** Receipts that one answer sums up. */
export const sumsReadMax = 50_000

export const ReceiptSum = Schema.Struct({
  key: Schema.NullOr(Schema.String).pipe(describe("The day in UTC, the model, or the payer. Null for no model.")),
  ...token,
  settled: amount,
  settledCount: Count,
  uncollected: amount,
  uncollectedCount: Count,
  refunded: amount.pipe(describe("What went back to payers, whenever they had paid.")),
  refundedCount: Count,
  providerCost: Schema.NullOr(AtomicAmount).pipe(
    describe("What providers took for answers, whether paid or not; null where it is known of no receipt.")
  ),
  providerCostCount: Count.pipe(describe("Receipts whose provider's cost is known.")),
  margin: Schema.NullOr(Schema.String.check(Schema.isPattern(/^-?\d{1,100}$/u))).pipe(
    describe(
      "What was settled of those receipts, less what their providers took and what was given back of them; null as `providerCost` is."
    )
  )
}).annotate({ identifier: "ReceiptSum" })
export interface ReceiptSum extends Schema.Schema.Type<typeof ReceiptSum> {}

export const ReceiptSums = Schema.Struct({
  by: Schema.Literals(sumsBy),
  items: Schema.Array(ReceiptSum)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe("One for each key and asset: days newest first, others the largest first.")),
  leftOut: Count.pipe(describe(`Sums beyond the first ${pageSizeMax}.`)),
  read: Count.pipe(describe(`Receipts that were read, the newest of the time asked for; ${sumsReadMax} at most.`)),
  isWhole: Schema.Boolean.pipe(describe("False when the time asked for holds more receipts than were read.")),
  from: Schema.NullOr(Timestamp).pipe(describe("The end of the oldest payment that was read.")),
  to: Schema.NullOr(Timestamp).pipe(describe("The end of the newest one."))
}).annotate({ identifier: "ReceiptSums" })
export interface ReceiptSums extends Schema.Schema.Type<typeof ReceiptSums> {}

export const ClaimPage = Schema.Struct({
  items: Schema.Array(ClaimSummary)
    .check(Schema.isMaxLength(pageSizeMax))
    .pipe(describe("Claims, the one that has not moved for longest first.")),
  nextCursor: Schema.NullOr(Schema.String).pipe(
    describe("For `cursor`; null when there are no more. A page with a cursor may be short, and even empty.")
  )
}).annotate({ identifier: "ClaimPage" })

const count = (value: number) => value.toLocaleString("en-US")

export const ReceiptsGroup = guarded(
  "receipts",
  read("listReceipts", "/receipts", {
    query: ReceiptsQuery.fields,
    success: ReceiptPage,
    summary: "List receipts",
    description:
      "The ends of payments of the last 400 days, as far as 8 GiB hold them. By chain and payer they are found at once; by " +
      "model, outcome or transaction a page may be short, or empty with a cursor, where few match."
  }),
  read("getReceiptsCsv", "/receipts.csv", {
    query: {
      ...receiptFilter,
      after: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,15}$/u))).pipe(
        describe("Go on after this `sequence`, the first column of the last line.")
      )
    },
    success: HttpApiSchema.StreamUint8Array({ contentType: "text/csv" }),
    summary: "Get receipts as a table",
    description:
      `CSV with a line of headings, oldest first, ${count(csvLinesMax)} lines at most: with so many, go on with \`after\`. ` +
      `A time that holds more than ${count(csvReadMax)} receipts is refused. A connection that breaks before its last chunk ` +
      "means that the table is not whole. A text that a spreadsheet could take for a formula begins with an apostrophe."
  }),
  read("sumReceipts", "/receipts/sums", {
    query: {
      ...receiptFilter,
      by: Schema.optionalKey(Schema.Literals(sumsBy)).pipe(describe("What the sums are of; `day` without it."))
    },
    success: ReceiptSums,
    summary: "Sum up receipts",
    description:
      "By day, model or payer, each asset by itself, with what was settled, what providers took, and what remains. " +
      `The newest ${count(sumsReadMax)} receipts of the time asked for are read; \`read\`, \`isWhole\` and \`from\` say how far that went.`
  }),
  read("getReceipt", "/receipts/:sequence", {
    success: ReceiptWhole,
    summary: "Look at a receipt",
    description: "With its claim, while that is kept, and what was given back of it."
  }),
  act("refundReceipt", "/receipts/:sequence/refunds", {
    payload: RefundRequest,
    success: RefundView,
    refused: ["conflict"],
    scope: "console:operate",
    summary: "Give a payment back",
    description:
      "A settler transfers it on the chain to the account that had paid, from the account of `Payments.Refunds`; however often it is " +
      "asked, and whoever dies, once. All refunds of a payment are never more than it was. `ordered` where the chain does " +
      "not say within seconds: it goes on, and the same request tells how far it is. 409 where nothing can go back; 503 " +
      "where no settler answers, which may have taken the order all the same: send the same request again.",
    example: { key: "ticket-4711", amount: "1000", reason: "the answer was empty" }
  })
)

export const ClaimsGroup = guarded(
  "claims",
  read("listClaims", "/claims", {
    query: {
      ...pageQuery,
      state: Schema.optionalKey(Schema.Literals(claimStates)).pipe(
        describe("Only this state. Without it, those that have not ended: CLAIMED, SERVING and SETTLING.")
      ),
      network: Schema.optionalKey(Network).pipe(describe("Only this chain, by CAIP-2, such as `eip155:8453`.")),
      payer: Schema.optionalKey(ChainAddress).pipe(describe("Only this account."))
    },
    success: ClaimPage,
    summary: "List claims",
    description:
      "Payments in use for a call. Those that have not ended are found at once; the ended ones are kept for a day after " +
      "their payment's own end, and are better looked for among receipts. Signatures are not shown."
  }),
  read("getClaim", "/claims/:key", {
    success: ClaimWhole,
    summary: "Look at a claim",
    description: "With its receipts, and what holds of its payer."
  })
)

// A quote with its resource and a few offers has about two thousand characters.
const headerCharactersMax = 16_384

export const TrialQuote = Schema.Struct({
  quote: text(headerCharactersMax).pipe(describe("The value of `PAYMENT-REQUIRED`, as the gateway sent it."))
}).annotate({ identifier: "TrialQuote" })

export const TrialPayment = Schema.Struct({
  payment: Schema.String.pipe(
    describe("For `PAYMENT-SIGNATURE`. Sent again with the same call, it is still one payment.")
  )
}).annotate({ identifier: "TrialPayment" })

export const TrialsGroup = guarded(
  "trials",
  act("signTrialPayment", "/trials/payments", {
    payload: TrialQuote,
    success: TrialPayment,
    refused: ["conflict"],
    scope: "console:write",
    summary: "Sign a trial's payment",
    description:
      "Only where `./starling up` made the chain, whose money is worth nothing: the fleet signs the quote's first offer, up to " +
      "a dollar. Elsewhere it is a conflict. The key stays with the fleet.",
    example: { quote: "eyJ4NDAyVmVyc2lvbiI6Mn0=" }
  })
)
